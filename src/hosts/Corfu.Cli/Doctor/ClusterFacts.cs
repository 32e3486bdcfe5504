namespace Corfu.Cli;

/// <summary>A running cluster, as the doctor found it.</summary>
/// <param name="Projection">The newest one that answers gave; null: none.</param>
internal sealed record ClusterFacts(Projection? Projection, ClusterVerdict Verdict)
{
    public ImmutableArray<MemberFacts> Members { get; init; } = [];

    /// <summary>Every process that answers, asked about every other one.</summary>
    public ImmutableArray<ReachFact> Reach { get; init; } = [];

    /// <summary>Null: the log's entries do not tell.</summary>
    public LogGrowth? Growth { get; init; }

    /// <summary>Whether agents reconfigure on their own; null when none answers.</summary>
    public bool? IsAutomatic { get; init; }

    /// <summary>Changes that agents would make and may not.</summary>
    public ImmutableArray<string> Held { get; init; } = [];

    public ImmutableArray<NodeReport> Nodes { get; init; } = [];

    /// <summary>The doctor's clock.</summary>
    public DateTimeOffset Now { get; init; }
}

/// <summary>A process of the cluster.</summary>
internal sealed record MemberFacts(NodeEndpoint Endpoint)
{
    /// <summary>Why the process does not answer the doctor, or null.</summary>
    public string? Silence { get; init; }

    /// <summary>Null where <see cref="Silence"/> says why, or <see cref="Unreported"/> does.</summary>
    public ProcessReport? Process { get; init; }

    /// <summary>Why a process that answers does not describe itself, or null.</summary>
    public string? Unreported { get; init; }

    /// <summary>The process's clock less the doctor's.</summary>
    public TimeSpan ClockOffset { get; init; }

    /// <summary>The offset may be wrong by so much: half the time of the question.</summary>
    public TimeSpan ClockError { get; init; }

    /// <summary>Bytes of a unit's pages; null for a process without a unit.</summary>
    public long? StoredBytes { get; init; }

    public string Name => Process is { Name.Length: > 0 } process ? $"{process.Name} ({Endpoint})" : $"{Endpoint}";
}

/// <param name="Answers">Null: it is not known.</param>
internal readonly record struct ReachFact(NodeEndpoint From, NodeEndpoint To, bool? Answers, string Why);

/// <summary>The log's growth, from the times of its entries.</summary>
/// <param name="Positions">Positions that the log holds.</param>
internal readonly record struct LogGrowth(double PositionsPerDay, long Positions);
