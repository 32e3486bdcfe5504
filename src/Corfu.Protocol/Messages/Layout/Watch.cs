namespace Corfu.Protocol;

/// <summary>
/// Answered, as a <see cref="LatestRequest"/> is, once the acceptor knows a decided projection above
/// <paramref name="Known"/>: at once, or when it learns of one; or, as the <see cref="AcceptRequest"/> is, when it has
/// accepted a value for the epoch after it. An acceptor to which too many wait answers the oldest of them early, with
/// what it has, and of each connection it keeps the newest.
/// </summary>
public sealed record WatchRequest(Epoch Known) : LayoutRequest(Opcode.Watch, Known);
