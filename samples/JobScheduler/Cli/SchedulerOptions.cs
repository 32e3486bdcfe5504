namespace JobScheduler.Cli;

/// <summary>Options of the command line, validated as far as they can be without reading files.</summary>
public sealed record SchedulerOptions
{
    public const int DefaultNodes = 128;
    public const int DefaultJobs = 5_000;
    public const int DefaultReplicas = 3;
    public const int MaxReplicas = 16;
    public const int MaxSilos = 8;
    public const int MaxKills = 100;

    public string? Trace { get; init; }

    public double Compress { get; init; } = 1;

    public int Nodes { get; init; } = DefaultNodes;

    public int Jobs { get; init; } = DefaultJobs;

    public ulong Seed { get; init; } = 1;

    public int Replicas { get; init; } = DefaultReplicas;

    /// <summary>Orleans silos, processes of their own, that the replicas work on. Null: this process.</summary>
    public int? Silos { get; init; }

    /// <summary>Silos to kill during the run.</summary>
    public int Kills { get; init; }

    public string? Connect { get; init; }

    public string? Data { get; init; }

    /// <summary>Separates runs in one log. Null: named after the workload, so that the same arguments find the same run
    /// again.</summary>
    public string? Run { get; init; }
}
