using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>When samples become a verdict.</summary>
public sealed record DetectorOptions
{
    /// <summary>Time between two looks at a node that answers.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>A node whose machine refuses connections is dead after so long, and after <see cref="MinRefusals"/> refusals: one that is restarted at once is not.</summary>
    public TimeSpan DeadAfter { get; init; } = TimeSpan.FromMilliseconds(200);

    public int MinRefusals { get; init; } = 3;

    /// <summary>Phi from which silence counts (phi-accrual, Hayashibara 2004): 8 is one false alarm in 10^8 looks, were answers normally distributed.</summary>
    public double SilentPhi { get; init; } = 8;

    /// <summary>
    /// A process that stands still answers in none of its roles. Silence of all of them counts from here on, if the other processes answer as usual
    /// meanwhile, and if this one has not come back from a pause of the like lately.
    /// </summary>
    public TimeSpan SilentAfter { get; init; } = TimeSpan.FromMilliseconds(350);

    /// <summary>
    /// Any other silence counts from here on: of one role only, which may wait for its disk; of a process that has answered for less than
    /// <see cref="SettleAfter"/>; or while half of the processes are late, which says more about the machine or this agent than about them.
    /// </summary>
    public TimeSpan StuckAfter { get; init; } = TimeSpan.FromSeconds(2);

    public TimeSpan SettleAfter { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A process is given this many times its longest pause of the last <see cref="PauseMemory"/>, from <see cref="SilentAfter"/> to <see cref="StuckAfter"/>.</summary>
    public double PauseFactor { get; init; } = 2;

    public TimeSpan PauseMemory { get; init; } = TimeSpan.FromMinutes(10);

    /// <summary>Added to the mean of the intervals: pauses of a collector or a disk.</summary>
    public TimeSpan AcceptablePause { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Lower bound of the deviation of the intervals.</summary>
    public TimeSpan MinDeviation { get; init; } = TimeSpan.FromMilliseconds(25);

    /// <summary>Intervals remembered per node.</summary>
    public int Window { get; init; } = 128;

    /// <summary>Says of its own disk that it failed, so often in a row.</summary>
    public int MinFailures { get; init; } = 2;

    /// <summary>A node that has never answered may still be starting for so long.</summary>
    public TimeSpan FirstAnswer { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>A node that said that it goes may be away for so long.</summary>
    public TimeSpan LeaveGrace { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Gray: mean round trip of this many times the median of its like, and at least <see cref="SlowFloor"/>, for <see cref="SlowAfter"/>.</summary>
    public double SlowFactor { get; init; } = 10;

    public TimeSpan SlowFloor { get; init; } = TimeSpan.FromMilliseconds(200);

    public TimeSpan SlowAfter { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Looks that come later than this are the agent's own delay, and are not held against anybody.</summary>
    public TimeSpan OwnStall { get; init; } = TimeSpan.FromMilliseconds(150);

    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(DetectorOptions),
        (nameof(Interval), Interval > TimeSpan.Zero),
        (nameof(DeadAfter), DeadAfter >= TimeSpan.Zero),
        (nameof(MinRefusals), MinRefusals > 0),
        (nameof(SilentPhi), SilentPhi > 0),
        (nameof(SilentAfter), SilentAfter > Interval),
        (nameof(StuckAfter), StuckAfter >= SilentAfter),
        (nameof(PauseFactor), PauseFactor >= 1),
        (nameof(PauseMemory), PauseMemory >= TimeSpan.Zero),
        (nameof(MinDeviation), MinDeviation > TimeSpan.Zero),
        (nameof(Window), Window > 1),
        (nameof(MinFailures), MinFailures > 0),
        (nameof(SlowFactor), SlowFactor > 1),
        (nameof(OwnStall), OwnStall > Interval));
}
