namespace Salus;

/// <summary>When a write is acknowledged.</summary>
public enum Acknowledgement
{
    /// <summary>When it is durable at all members of its regions: a crash loses no acknowledged write.</summary>
    Committed = 0,

    /// <summary>When it has its place in the order: a crash may lose the newest writes, and never one in the middle.
    /// Flushes, and writes that ask for it, still wait until all before them is durable.</summary>
    Ordered = 1,
}

/// <summary>Limits and times of mounted volumes.</summary>
public sealed record SalusClientOptions
{
    internal static readonly OptionRules<SalusClientOptions> Rules = new OptionRules<SalusClientOptions>(new())
        .Between(o => o.Lease, TimeSpan.FromMilliseconds(100), TimeSpan.FromHours(1))
        .Above(o => o.Patience, TimeSpan.Zero)
        .Between(o => o.Window, 1, MaxWindow)
        .AtLeast(o => o.WindowBytes, BatchLimits.MaxPayload)
        .AtLeast(o => o.TreeCache, 1 << 20)
        .Above(o => o.ReadPatience, TimeSpan.Zero)
        .Above(o => o.StallTime, TimeSpan.Zero)
        .Above(o => o.NoteInterval, TimeSpan.Zero)
        .AtLeast(o => o.StableLag, 1L << 20);

    // A region reports at most RegionReport.MaxBatches above its proof, and the driver may be a window ahead of it.
    private const int MaxWindow = RegionReport.MaxBatches / 2;

    public static readonly SalusClientOptions Default = new();

    /// <summary>When a write is acknowledged. Default: when it is durable.</summary>
    public Acknowledgement Acknowledgement { get; init; }

    /// <summary>The writer's lock is free so long after this process has died. Default 10 s.</summary>
    public TimeSpan Lease { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A call that cannot be finished for so long fails with
    /// <see cref="VolumeFault.Unavailable"/>. Default 60 s.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Batches under way. Default 16.</summary>
    public int Window { get; init; } = 16;

    /// <summary>Bytes of the batches under way. Default 32 MiB.</summary>
    public int WindowBytes { get; init; } = 32 << 20;

    /// <summary>Bytes of the hash tree's leaves that are kept in memory, for each volume. Default 64 MiB.</summary>
    public long TreeCache { get; init; } = 64 << 20;

    /// <summary>After so long without an answer, a read goes to another member too. Default 300 ms.</summary>
    public TimeSpan ReadPatience { get; init; } = TimeSpan.FromMilliseconds(300);

    /// <summary>After so long without progress of the oldest batch, its regions are asked, and suspected. Default 2
    /// s.</summary>
    public TimeSpan StallTime { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>How often the log learns how far a writing volume is. Default 1 s.</summary>
    public TimeSpan NoteInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Bytes that may be written behind the stable point until regions are asked for checkpoints. Default 256
    /// MiB.</summary>
    public long StableLag { get; init; } = 256 << 20;

    /// <summary>The name of this process, for people who ask for the holder of a volume. Default: none.</summary>
    public string Owner { get; init; } = "";

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
