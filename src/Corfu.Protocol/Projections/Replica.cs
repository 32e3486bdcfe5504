namespace Corfu.Protocol;

/// <summary>
/// One unit's place in a chain. A joining replica is written by fills, completes and trims but is never read, never head,
/// tail, survivor, confirmer or a source of anything (R15); it stands behind the full ones (R13).
/// </summary>
public readonly record struct Replica(NodeId Unit, bool Joining = false);
