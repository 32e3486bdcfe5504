namespace Corfu.Agent;

/// <summary>When samples become a verdict.</summary>
public sealed record DetectorOptions
{
    /// <summary>Between two probes of a watched process that answers.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>A node whose machine refuses connections is dead after so long, and after <see cref="MinRefusals"/>
    /// refusals: one that is restarted at once is not.</summary>
    public TimeSpan DeadAfter { get; init; } = TimeSpan.FromMilliseconds(150);

    public int MinRefusals { get; init; } = 3;

    /// <summary>Phi from which silence counts (phi-accrual, Hayashibara 2004): 8 is one false alarm in 10^8 probes,
    /// were answers normally distributed.</summary>
    public double SilentPhi { get; init; } = 8;

    /// <summary>Silence counts from here on: of a whole process, if its answers never took as long before
    /// (<see cref="SilentPhi"/>), or of one role while its process answers. Twice as long while most of the other
    /// processes are late too.</summary>
    public TimeSpan SilentAfter { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Added to the mean of the intervals: pauses of a collector or a disk.</summary>
    public TimeSpan AcceptablePause { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Lower bound of the deviation of the intervals.</summary>
    public TimeSpan MinDeviation { get; init; } = TimeSpan.FromMilliseconds(25);

    /// <summary>Intervals remembered per process.</summary>
    public int Window { get; init; } = 128;

    /// <summary>Answers in a row that say that the node's disk has failed.</summary>
    public int MinFailures { get; init; } = 2;

    /// <summary>A node that has never answered may still be starting for so long.</summary>
    public TimeSpan FirstAnswer { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>A unit or acceptor that said that it stops may be away for so long.</summary>
    public TimeSpan LeaveGrace { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Slow: a mean round trip of this many times the median of the same role, and at least
    /// <see cref="SlowFloor"/>, for <see cref="SlowAfter"/>.</summary>
    public double SlowFactor { get; init; } = 10;

    public TimeSpan SlowFloor { get; init; } = TimeSpan.FromMilliseconds(200);

    public TimeSpan SlowAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>An agent whose step is later than this stood still, and forgives every node the pause.</summary>
    public TimeSpan OwnStall { get; init; } = TimeSpan.FromMilliseconds(400);

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(DetectorOptions),
        (nameof(Interval), Interval > TimeSpan.Zero),
        (nameof(DeadAfter), DeadAfter >= TimeSpan.Zero),
        (nameof(MinRefusals), MinRefusals > 0),
        (nameof(SilentPhi), SilentPhi > 0),
        (nameof(SilentAfter), SilentAfter > Interval),
        (nameof(MinDeviation), MinDeviation > TimeSpan.Zero),
        (nameof(Window), Window > 1),
        (nameof(MinFailures), MinFailures > 0),
        (nameof(SlowFactor), SlowFactor > 1),
        (nameof(OwnStall), OwnStall > Interval));
}
