using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>
/// Operations of one client, how often and how fast. Clients that differ find what a uniform crowd hides. A client that
/// only checks learns of a new epoch by nothing else. A client that appends in bursts loses many neighbours at once
/// when it dies.
/// </summary>
public sealed record ClientProfile
{
    public static readonly ClientProfile Mixed = new();

    /// <summary>Mean pause between two operations of a worker, in ticks.</summary>
    public long Think { get; init; }

    // Weights of the operations; what is not positive never happens.
    public double Append { get; init; } = 0.55;

    public double Burst { get; init; }

    public double Read { get; init; } = 0.17;

    public double Check { get; init; } = 0.13;

    public double ReadStream { get; init; } = 0.09;

    public double Fill { get; init; } = 0.03;

    public double Trim { get; init; } = 0.03;

    /// <summary>Transactions write nothing.</summary>
    public bool ReadsOnly => Append + Burst <= 0;

    /// <summary>Pauses as a worker does between two operations.</summary>
    public Task ThinkAsync(TimeProvider time, SimRandom random) => Think > 0
        ? Task.Delay(TimeSpan.FromTicks(random.Exponential(Think) + 1), time)
        : Task.CompletedTask;

    public static ClientProfile Draw(SimRandom random, bool first)
    {
        long think = first ? 0 : random.Pick([0L, 0, 0, 20_000, 200_000]);
        ClientProfile mixed = Mixed with { Think = think, Burst = random.Pick([0, 0, 0.05, 0.3]) };
        if (first || random.Chance(0.6)) return mixed;
        ClientProfile still = new()
        {
            Think = think,
            Append = 0,
            Read = 0,
            Check = 0,
            ReadStream = 0,
            Fill = 0,
            Trim = 0
        };
        return random.Next(4) switch
        {
            0 => still with { Check = 1 },
            1 => still with { Read = 1 },
            2 => still with { ReadStream = 1, Think = Math.Max(think, 20_000) },
            _ => still with { Append = 0.5, Burst = 0.5 },
        };
    }
}
