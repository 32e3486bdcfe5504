using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel.Network;
using Salus.Protocol;
using Salus.Store.Log;

namespace Corfu.Simulation.Salus;

/// <summary>Everything that a seed of the block store decides before it starts: a random subset of faults and
/// sizes.</summary>
internal sealed record SalusPlan
{
    /// <summary>Wrong behaviour of a machine's servers that few seeds have.</summary>
    private static readonly SalusFault[] s_rare =
    [
        SalusFault.Reorder, SalusFault.FlipMemory, SalusFault.FlipTree, SalusFault.Equivocate, SalusFault.OldAnswer,
        SalusFault.ShortReport, SalusFault.ShortCertificate, SalusFault.WrongFile, SalusFault.AskDelete,
    ];

    /// <summary>Faults that end a writer, or cut it off from the log, before it has told how far it was.</summary>
    private static readonly SalusFault[] s_silencing =
    [
        SalusFault.LoseTail, SalusFault.KillWriter, SalusFault.StopWriter, SalusFault.Pause, SalusFault.LogUnreachable,
        SalusFault.SlowScheduling,
    ];

    /// <summary>Faults of one machine that copies elsewhere make good. At most <see cref="MostBad"/> machines of a seed
    /// have any.</summary>
    public static readonly SortedSet<SalusFault> Lasting =
    [
        SalusFault.LoseDisk, SalusFault.OldDisk, SalusFault.CutLog, SalusFault.FlipLog, SalusFault.FlipFile,
        SalusFault.Misread, SalusFault.LyingDisk, SalusFault.Mute, SalusFault.FlipForward, SalusFault.WrongAnswer,
        .. s_rare,
    ];

    /// <summary>Proven writes may be gone for good: their loss is on record, and what is left is a prefix.</summary>
    public bool MayLose => Has(SalusFault.LoseTail) || Has(SalusFault.LoseTailAlive);

    /// <summary>Machines with faults that last: what three copies bear.</summary>
    public const int MostBad = 2;

    public required ulong Seed { get; init; }

    public int Machines { get; init; } = 4;

    public int Volumes { get; init; } = 1;

    /// <summary>Regions of each volume.</summary>
    public int Regions { get; init; } = 3;

    public int RegionBlocks { get; init; } = 64;

    /// <summary>Machines that may write each volume: one has it, the others wait for it.</summary>
    public int Writers { get; init; } = 2;

    /// <summary>Concurrent calls of a writer.</summary>
    public int Workers { get; init; } = 4;

    /// <summary>The run ends when this many calls have been answered.</summary>
    public int Operations { get; init; } = 500;

    /// <summary>Mean of the calls of one tenure.</summary>
    public int Tenure { get; init; } = 100;

    /// <summary>Blocks of the largest write.</summary>
    public int MaxBlocks { get; init; } = 4;

    /// <summary>Share of reads among the calls.</summary>
    public double Reads { get; init; } = 0.4;

    /// <summary>Share of snapshots among the calls: taken, read, or deleted.</summary>
    public double Snapshots { get; init; }

    /// <summary>Share of clears among the changes.</summary>
    public double Clears { get; init; } = 0.15;

    /// <summary>Writes are acknowledged when they have their place.</summary>
    public bool IsOrdered { get; init; }

    /// <summary>Mean pause of a worker, in ticks.</summary>
    public long Think { get; init; } = 5_000;

    public SortedSet<SalusFault> Faults { get; init; } = [];

    public NetworkOptions Network { get; init; } = new();

    public SimDiskOptions Disk { get; init; } = new();

    /// <summary>Mean virtual time between two acts of the nemesis, in ticks.</summary>
    public long FaultInterval { get; init; } = 2_000_000;

    /// <summary>Faults stop after this virtual time, however far the workload got.</summary>
    public long FaultsUntil { get; init; } = 60_000_000;

    public double SlowScheduling { get; init; }

    /// <summary>Mean of the log's latency, in ticks.</summary>
    public long LogLatency { get; init; } = 10_000;

    /// <summary>Leases and waits are the shipped ones times this.</summary>
    public double Pace { get; init; } = 0.1;

    /// <summary>Batches under way.</summary>
    public int Window { get; init; } = 16;

    /// <summary>Bytes of blocks in a machine's memory from which on regions cut.</summary>
    public long Memtables { get; init; } = 256 << 10;

    /// <summary>Pages of 256 KiB in a file of a store's log.</summary>
    public int SegmentPages { get; init; } = 2;

    public long LogLimit { get; init; } = 1 << 20;

    public VolumeGeometry Geometry => VolumeGeometry.Create(
        (long)Regions * RegionBlocks * VolumeGeometry.MinBlockSize, VolumeGeometry.MinBlockSize, RegionBlocks);

    public StoreOptions Store => new()
    {
        LogPageSize = LogPage,
        LogMemory = 8 * LogPage,
        SegmentSize = SegmentPages * LogPage,
        Reserve = 4 * LogPage,
        Headroom = 0,
        HotBytes = LogPage,
        LogLimit = Math.Max(LogLimit, 4L * SegmentPages * LogPage),
    };

    private const int LogPage = 256 << 10;

    /// <summary>A request's time-out, in ticks: longer than a region server waits before it answers.</summary>
    public long RequestTimeout => At(TimeSpan.FromSeconds(3)).Ticks;

    public bool Has(SalusFault fault) => Faults.Contains(fault);

    public TimeSpan At(TimeSpan shipped) => shipped * Pace;

    public static SalusPlan Of(ulong seed)
    {
        var random = new SimRandom(seed).Split("salus plan");
        var faults = FaultsOf(seed);
        bool Has(SalusFault fault) => faults.Contains(fault);
        return new SalusPlan
        {
            Seed = seed,
            Machines = random.Between(4, 8),
            Volumes = random.Pick([1, 1, 1, 2]),
            Regions = random.Between(2, 6),
            Writers = random.Between(1, 3),
            Workers = random.Between(1, 6),
            Operations = random.Between(300, 600),
            Tenure = random.Pick([20, 100, 1_000]),
            MaxBlocks = random.Pick([1, 4, 16]),
            Reads = random.Pick([0.2, 0.4, 0.7]),
            Snapshots = random.Pick([0, 0, 0.01, 0.03]),
            Clears = random.Pick([0, 0.15, 0.4]),
            Think = random.Pick([1_000L, 10_000, 100_000]),
            IsOrdered = new SimRandom(seed).Split("salus ordered").Chance(0.2),
            Faults = faults,
            Network = new NetworkOptions
            {
                MinLatency = random.Pick([200L, 1_000]),
                Jitter = Has(SalusFault.Reordering) ? random.Pick([500L, 2_000, 10_000]) : 50,
                Loss = Has(SalusFault.Loss) ? random.Pick([0.005, 0.02]) : 0,
                Duplication = Has(SalusFault.Duplication) ? random.Pick([0.01, 0.1]) : 0,
                LongDelay = Has(SalusFault.LongDelay) ? random.Pick([0.005, 0.02]) : 0,
                LongDelayMax = random.Pick([200_000L, 1_000_000]),
            },
            Disk = new SimDiskOptions
            {
                FlushLatency = random.Pick([300L, 1_500, 20_000]),
                SlowFlush = Has(SalusFault.SlowFlush) ? random.Pick([0.01, 0.1]) : 0,
                SlowFlushLatency = random.Pick([50_000L, 500_000]),
                KeepAtCrash = Has(SalusFault.LostWrite) ? random.Pick([0, 0.3, 0.7]) : 1,
                TearAtCrash = Has(SalusFault.TornWrite) ? random.Pick([0.3, 1]) : 0,
            },
            FaultInterval = random.Pick([500_000L, 2_000_000, 8_000_000]),
            FaultsUntil = random.Pick([30_000_000L, 100_000_000]),
            SlowScheduling = Has(SalusFault.SlowScheduling) ? random.Pick([0.02, 0.1]) : 0,
            LogLatency = random.Pick([5_000L, 20_000, 100_000]),
            Pace = random.Pick([0.1, 0.2]),
            Window = random.Pick([1, 4, 16]),
            SegmentPages = random.Pick([1, 2, 4]),
            Memtables = random.Pick([32L << 10, 128 << 10, 1 << 30]),
        };
    }

    private static double ShareOf(SalusFault fault) => fault switch
    {
        SalusFault.OldTail => 0,
        SalusFault.LoseTail or SalusFault.LoseTailAlive => 0.1,
        _ => s_rare.Contains(fault) ? 0.1 : Lasting.Contains(fault) ? 0.5 : 1,
    };

    private static SortedSet<SalusFault> FaultsOf(ulong seed)
    {
        SortedSet<SalusFault> faults = [];
        var density = new SimRandom(seed).Split("salus density").Pick([0.1, 0.2, 0.4, 0.6]);
        foreach (var fault in Enum.GetValues<SalusFault>())
        {
            // Each kind of fault has a choice of its own, so that a later kind leaves the seeds without it as they
            // were.
            if (new SimRandom(seed).Split($"{fault}").Chance(density * ShareOf(fault)))
                faults.Add(fault);
        }

        // A region that no machine has intact is down for good.
        if (faults.Contains(SalusFault.LoseTailAlive)) faults.ExceptWith([.. Lasting, .. s_silencing]);
        if (faults.Contains(SalusFault.LoseTail)) faults.ExceptWith(Lasting);
        if ((faults.Contains(SalusFault.LoseTail) || faults.Contains(SalusFault.LoseTailAlive))
            && new SimRandom(seed).Split($"{SalusFault.OldTail}").Chance(0.5)) faults.Add(SalusFault.OldTail);
        if (faults.Contains(SalusFault.TornWrite) || faults.Contains(SalusFault.LostWrite)
            || faults.Contains(SalusFault.LyingDisk)) faults.Add(SalusFault.PowerCut);
        return faults;
    }
}
