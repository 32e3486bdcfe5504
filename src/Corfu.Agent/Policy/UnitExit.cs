using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>A unit that gets no new entries any more.</summary>
/// <param name="Spare">Takes its place in the chains of new entries; none where there is none.</param>
/// <param name="Keeps">It stays with the entries that it has, for reads; otherwise it leaves every chain at once (R2).</param>
public sealed record UnitExit(NodeAddress Unit, NodeAddress? Spare, bool Keeps);
