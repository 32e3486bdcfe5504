using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Services;

/// <summary>Workload of the processes of a key-value store.</summary>
internal sealed record StorePlan
{
    /// <summary>Compactions and moves are frequent, so that values leave the log's lower part soon.</summary>
    public required bool Tidies { get; init; }

    /// <summary>How often the runtime looks up an append that has no answer before its call is in doubt.</summary>
    public required int ResolveAttempts { get; init; }

    /// <summary>Short in some seeds, so that appends have no answer.</summary>
    public required TimeSpan OperationTimeout { get; init; }

    /// <summary>Share of records that wait for long behind their values (K2).</summary>
    public required double ShareOfPauses { get; init; }

    public static StorePlan Draw(SimRandom random) => new()
    {
        Tidies = random.Chance(0.5),
        ResolveAttempts = random.Pick([0, 3]),
        OperationTimeout = TimeSpan.FromMilliseconds(random.Pick([3_600_000, 500, 50, 10])),
        ShareOfPauses = random.Pick([0, 0.02]),
    };
}
