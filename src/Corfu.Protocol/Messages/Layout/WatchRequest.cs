namespace Corfu.Protocol;

/// <summary>
/// Answered, as a <see cref="LatestRequest"/> is, once the acceptor knows a decided projection above <paramref name="Known"/>: at once, or when it learns of
/// one. An acceptor to which too many wait answers the oldest of them early, with what it has.
/// </summary>
public sealed record WatchRequest(Epoch Known) : LayoutRequest(Known)
{
    public override Opcode Opcode => Opcode.Watch;
}
