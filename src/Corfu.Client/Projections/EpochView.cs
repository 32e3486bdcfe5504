using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>One epoch as this client sees it: the projection and what it has learnt under it. Everything here dies with the epoch.</summary>
internal sealed class EpochView(Projection projection, GrantClock grants)
{
    public Projection Projection { get; } = projection;

    public Epoch Epoch => Projection.Epoch;

    public GrantClock Grants { get; } = grants;

    /// <summary>The longest grace that a writer asked for, as last heard (R10).</summary>
    public ushort GraceMilliseconds { get; private set; }

    public void Saw(TailResponse tail, long time)
    {
        Grants.Saw(tail.Tail, time);
        GraceMilliseconds = tail.GraceMilliseconds;
    }
}
