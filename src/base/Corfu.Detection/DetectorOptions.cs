namespace Corfu.Detection;

/// <summary>When samples become a verdict.</summary>
public sealed record DetectorOptions
{
    /// <summary>The range of each option.</summary>
    public static readonly OptionRules<DetectorOptions> Rules = new OptionRules<DetectorOptions>(new())
        .Above(o => o.Interval, TimeSpan.Zero)
        .AtLeast(o => o.DeadAfter, TimeSpan.Zero)
        .AtLeast(o => o.MinRefusals, 1)
        .Above(o => o.SilentPhi, 0)
        .Above(o => o.SilentAfter, o => o.Interval)
        .Above(o => o.MinDeviation, TimeSpan.Zero)
        .AtLeast(o => o.Window, 2)
        .AtLeast(o => o.MinFailures, 1)
        .Above(o => o.SlowFactor, 1)
        .Above(o => o.OwnStall, o => o.Interval);

    /// <summary>Between two probes of a watched process that answers. Default 250 ms.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>A node whose machine refuses connections is dead after so long, and after <see cref="MinRefusals"/>
    /// refusals: one that is restarted at once is not. Default 150 ms.</summary>
    public TimeSpan DeadAfter { get; init; } = TimeSpan.FromMilliseconds(150);

    /// <summary>Refused connections in a row before a node counts as dead. Default 3.</summary>
    public int MinRefusals { get; init; } = 3;

    /// <summary>Phi from which silence counts (phi-accrual, Hayashibara 2004): 8 is one false alarm in 10^8 probes,
    /// were answers normally distributed. Default 8.</summary>
    public double SilentPhi { get; init; } = 8;

    /// <summary>Silence counts from here on: of a whole process, if its answers never took as long before (<see
    /// cref="SilentPhi"/>), or of one role while its process answers. Twice as long while most of the other processes
    /// are late too. Default 2 s.</summary>
    public TimeSpan SilentAfter { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Added to the mean of the intervals: pauses of a collector or a disk. Default 100 ms.</summary>
    public TimeSpan AcceptablePause { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Lower bound of the deviation of the intervals. Default 25 ms.</summary>
    public TimeSpan MinDeviation { get; init; } = TimeSpan.FromMilliseconds(25);

    /// <summary>Intervals remembered per process. Default 128.</summary>
    public int Window { get; init; } = 128;

    /// <summary>Answers in a row that say that the node's disk has failed. Default 2.</summary>
    public int MinFailures { get; init; } = 2;

    /// <summary>A node that has never answered may still be starting for so long. Default 60 s.</summary>
    public TimeSpan FirstAnswer { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>A node that said that it stops, and may return, may be away for so long. Default 30 s.</summary>
    public TimeSpan LeaveGrace { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Slow: a mean round trip of this many times the median of the same role, and at least <see
    /// cref="SlowFloor"/>, for <see cref="SlowAfter"/>. Default 10.</summary>
    public double SlowFactor { get; init; } = 10;

    /// <summary>Round trips below this are never slow. Default 200 ms.</summary>
    public TimeSpan SlowFloor { get; init; } = TimeSpan.FromMilliseconds(200);

    /// <summary>A node counts as slow after so long. Default 10 s.</summary>
    public TimeSpan SlowAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>An agent whose step is later than this stood still, and forgives every node the pause. Default 400
    /// ms.</summary>
    public TimeSpan OwnStall { get; init; } = TimeSpan.FromMilliseconds(400);

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
