using System.ComponentModel;

namespace Corfu.StateMachines;

/// <summary>Options of a replica. What is recorded is decided by the first replica of a stream.</summary>
public sealed record ReplicaOptions
{
    private static readonly OptionRules<ReplicaOptions> s_rules = new OptionRules<ReplicaOptions>(new ReplicaOptions())
        .Must(o => o.Machine, o => !string.IsNullOrEmpty(o.Machine), "a name")
        .AtLeast(o => o.Version, 0)
        .Between(o => o.MaxBatchCommands, 1, 65_536)
        .AtLeast(o => o.MaxBatchBytes, 1)
        .Between(o => o.MaxAppends, 1, 1_024)
        .AtLeast(o => o.MaxWaiting, 1)
        // Timers take no longer one.
        .Between(o => o.PollInterval, TimeSpan.FromMilliseconds(1), TimeSpan.FromDays(49))
        .AtLeast(o => o.SnapshotCommands, 1)
        .AtLeast(o => o.SnapshotBytes, 1)
        .Between(o => o.SnapshotPatience, TimeSpan.FromMilliseconds(1), TimeSpan.FromDays(365))
        .Between(o => o.MaxSessions, 1, 1 << 20)
        .Between(o => o.MaxResultBytes, 1, 256 << 20)
        .AtLeast(o => o.Attempts, 1);

    /// <summary>Name of the machine's kind, recorded: replicas of another kind are refused.</summary>
    public string Machine { get; init; } = "machine";

    /// <summary>Version of the machine's behaviour, recorded: replicas of another version are refused.</summary>
    public int Version { get; init; }

    /// <summary>Most commands in an entry.</summary>
    public int MaxBatchCommands { get; init; } = 256;

    /// <summary>Bytes of commands at which an entry is full. A larger command has an entry of its own.</summary>
    public int MaxBatchBytes { get; init; } = 64 * 1024;

    /// <summary>Most appends in flight; further commands wait and share the next entry.</summary>
    public int MaxAppends { get; init; } = 4;

    /// <summary>Most commands that wait to be sent; further ones are refused.</summary>
    public int MaxWaiting { get; init; } = 16_384;

    /// <summary>How often a replica asks for news that it did not cause.</summary>
    public TimeSpan PollInterval { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>Commands after which a snapshot is due.</summary>
    public int SnapshotCommands { get; init; } = 50_000;

    /// <summary>Bytes of commands after which a snapshot is due.</summary>
    public long SnapshotBytes { get; init; } = 64 << 20;

    /// <summary>How long a replica leaves another to finish a snapshot before it writes one itself; twice as long each
    /// further time, until one is finished.</summary>
    public TimeSpan SnapshotPatience { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>Most sessions, recorded. Beyond them, and beyond 1 GiB of results of all, the one that was least
    /// recently used goes.</summary>
    public int MaxSessions { get; init; } = 4_096;

    /// <summary>Bytes of results that a session keeps before further commands are refused, recorded.</summary>
    public int MaxResultBytes { get; init; } = 1 << 20;

    /// <summary>How often a fate in doubt is asked for, and a session's command is sent, before its caller is told that
    /// it is in doubt.</summary>
    public int Attempts { get; init; } = 8;

    /// <summary>Told that the machine needs no history below a position: two snapshots beyond it were read back. It may
    /// be told a lower position than before. What it throws counts as a failure of the snapshot. Null: nothing is told,
    /// and the log keeps everything.</summary>
    public Func<LogPosition, CancellationToken, ValueTask>? Retain { get; init; }

    public TimeProvider Time { get; init; } = TimeProvider.System;

    [EditorBrowsable(EditorBrowsableState.Never)]
    public IEntropy Entropy { get; init; } = SystemEntropy.Instance;

    [EditorBrowsable(EditorBrowsableState.Never)]
    public LoopContext Loops { get; init; } = LoopContext.Pool;

    internal void Check() => s_rules.Check(this);
}
