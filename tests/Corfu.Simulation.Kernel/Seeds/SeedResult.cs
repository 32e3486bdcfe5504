namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>Result of one seed. Plain data: it travels between processes as one line of JSON.</summary>
public sealed record SeedResult
{
    public required ulong Seed { get; init; }

    public required ulong Hash { get; init; }

    /// <summary>Operations that were acknowledged.</summary>
    public required long Operations { get; init; }

    public required long Steps { get; init; }

    public required double VirtualSeconds { get; init; }

    public SortedDictionary<string, long> Faults { get; init; } = [];

    /// <summary>Kinds of faults that the seed's plan allows.</summary>
    public List<string> Enabled { get; init; } = [];

    public SortedDictionary<string, long> Marks { get; init; } = [];

    public List<Violation> Violations { get; init; } = [];

    public bool Failed => Violations.Count > 0;
}
