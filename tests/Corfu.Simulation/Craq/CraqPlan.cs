using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel.Network;
using Craq;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>Everything that a seed of the object store decides before it starts: a random subset of faults and
/// sizes.</summary>
internal sealed record CraqPlan
{
    public required ulong Seed { get; init; }

    /// <summary>Nodes of the chains at first.</summary>
    public int Length { get; init; } = 3;

    /// <summary>Further nodes: each chain has some of all nodes as its members.</summary>
    public int Spares { get; init; }

    public int Chains { get; init; } = 2;

    /// <summary>0: the majority.</summary>
    public int MinMembers { get; init; }

    public ChainOptions Options { get; init; } = ChainOptions.Default;

    public int Clients { get; init; } = 3;

    /// <summary>Concurrent loops of a client.</summary>
    public int Workers { get; init; } = 3;

    /// <summary>The run ends when this many have been answered.</summary>
    public int Operations { get; init; } = 500;

    /// <summary>Objects of each kind in a chain.</summary>
    public int Keys { get; init; } = 2;

    /// <summary>Largest value in bytes.</summary>
    public int MaxValue { get; init; } = 64;

    public SortedSet<CraqFault> Faults { get; init; } = [];

    public NetworkOptions Network { get; init; } = new();

    public SimDiskOptions Disk { get; init; } = new();

    /// <summary>A request's time-out, in ticks.</summary>
    public long RequestTimeout { get; init; } = 500_000;

    /// <summary>Mean virtual time between two acts of the nemesis, in ticks.</summary>
    public long FaultInterval { get; init; } = 200_000;

    /// <summary>Faults stop after this virtual time, however far the workload got.</summary>
    public long FaultsUntil { get; init; } = 20_000_000;

    public double SlowScheduling { get; init; }

    /// <summary>Mean of the log's latency, in ticks.</summary>
    public long LogLatency { get; init; } = 10_000;

    /// <summary>Interval at which a machine plays the log's changes, in ticks.</summary>
    public long Follow { get; init; } = 50_000;

    /// <summary>Records under way between two members, and ids in a chain's window: tiny in some seeds.</summary>
    public int WindowRecords { get; init; } = 4096;

    public int WindowIds { get; init; } = 65_536;

    /// <summary>Bytes of committed records that a node keeps in memory for others.</summary>
    public long HotBytes { get; init; } = 32 << 20;

    /// <summary>Tiny segments and few records between two checkpoints, in most seeds.</summary>
    public NodeStoreOptions Store { get; init; } = SmallStore(1, 60);

    /// <summary>Share of transactions over several chains among the writes.</summary>
    public double Transactions { get; init; }

    /// <summary>A head ends a transaction whose lead is silent for so long, in ticks.</summary>
    public long LockLimit { get; init; } = TimeSpan.TicksPerSecond;

    /// <summary>Share of objects with an expiry among the registers that are put or touched.</summary>
    public double Expiring { get; init; }

    /// <summary>Interval at which nodes delete expired objects, in ticks.</summary>
    public long Sweep { get; init; } = TimeSpan.TicksPerMinute;

    /// <summary>Nodes have agents and learners, whose intervals are the shipped ones times this. 0: no
    /// agents.</summary>
    public double Pace { get; init; }

    /// <summary>A node counts as gone after this time without a renewal, in ticks.</summary>
    public long LeaseTime => HasAgents ? (long)(2 * TimeSpan.TicksPerSecond * Pace) : 3 * TimeSpan.TicksPerSecond;

    public bool HasAgents => Pace > 0;

    /// <summary>Bytes of a record's values from which they go beside the chain; 0: the chains relay none.</summary>
    public int RelayFrom { get; init; }

    /// <summary>Bytes of relayed values that a node keeps: so few in some seeds that most have to be
    /// fetched.</summary>
    public long RelayBytes { get; init; } = 64 << 20;

    /// <summary>Share of the relay's messages that is lost, besides that of all messages.</summary>
    public double RelayLoss { get; init; }

    public bool IsLeased => Options.Reads == EpochProof.Leased;

    public bool IsRelaying => RelayFrom > 0;

    /// <summary>Share of reads among the operations.</summary>
    public double Reads { get; init; } = 0.5;

    /// <summary>Mean pause of a worker, in ticks.</summary>
    public long Think { get; init; } = 1_000;

    public int Nodes => Length + Spares;

    public bool Has(CraqFault fault) => Faults.Contains(fault);

    private static SortedSet<CraqFault> FaultsOf(ulong seed, SimRandom random)
    {
        SortedSet<CraqFault> faults = [];
        var density = random.Pick([0.1, 0.3, 0.5, 0.8]);
        foreach (var fault in Enum.GetValues<CraqFault>())
        {
            // A later kind of fault has a choice of its own, so that seeds without it stay as they were.
            var choice = fault >= CraqFault.CutOff ? new SimRandom(seed).Split($"{fault}") : random;
            if (choice.Chance(density)) faults.Add(fault);
        }

        if (faults.Contains(CraqFault.TornWrite) || faults.Contains(CraqFault.LostWrite))
            faults.Add(CraqFault.PowerCut);
        return faults;
    }

    private static NetworkOptions NetworkOf(SimRandom random, SortedSet<CraqFault> faults) => new()
    {
        MinLatency = random.Pick([50L, 200, 1_000]),
        Jitter = faults.Contains(CraqFault.Reordering) ? random.Pick([500L, 2_000, 10_000]) : 50,
        Loss = faults.Contains(CraqFault.Loss) ? random.Pick([0.005, 0.02, 0.1]) : 0,
        Duplication = faults.Contains(CraqFault.Duplication) ? random.Pick([0.01, 0.1, 0.5]) : 0,
        LongDelay = faults.Contains(CraqFault.LongDelay) ? random.Pick([0.005, 0.02, 0.1]) : 0,
        LongDelayMax = random.Pick([20_000L, 200_000, 1_000_000]),
    };

    private static SimDiskOptions DiskOf(SimRandom random, SortedSet<CraqFault> faults) => new()
    {
        FlushLatency = random.Pick([300L, 1_500, 20_000]),
        SlowFlush = faults.Contains(CraqFault.SlowFlush) ? random.Pick([0.01, 0.1]) : 0,
        SlowFlushLatency = random.Pick([50_000L, 500_000]),
        KeepAtCrash = faults.Contains(CraqFault.LostWrite) ? random.Pick([0, 0.3, 0.7]) : 1,
        TearAtCrash = faults.Contains(CraqFault.TornWrite) ? random.Pick([0.3, 1]) : 0,
    };

    public static CraqPlan Of(ulong seed)
    {
        var random = new SimRandom(seed).Split("craq plan");
        var faults = FaultsOf(seed, random);
        var agents = new SimRandom(seed).Split("agents");
        var hasAgents = agents.Chance(0.5);
        if (!hasAgents) faults.ExceptWith([CraqFault.LoseDisk, CraqFault.Drain, CraqFault.LateCopies,
            CraqFault.KillLearner]);
        bool Has(CraqFault fault) => faults.Contains(fault);
        var store = new SimRandom(seed).Split("store");
        var length = random.Pick([1, 2, 3, 3, 3, 4, 5, 7]);
        if (length == 1) faults.ExceptWith([CraqFault.Remove, CraqFault.Reorder, CraqFault.CutOff,
            CraqFault.LoseDisk, CraqFault.KillLearner]);
        var plan = new CraqPlan
        {
            Seed = seed,
            Length = length,
            Spares = Has(CraqFault.Remove) ? random.Pick([0, 1, 2]) : 0,
            Chains = random.Pick([1, 1, 2, 3]),
            MinMembers = random.Pick([0, 0, 1, length]),
            Options = new ChainOptions { Protocol = random.Chance(0.2) ? ChainProtocol.Cr : ChainProtocol.Craq },
            Clients = random.Between(2, 4),
            Workers = random.Between(1, 4),
            Operations = random.Between(300, 700),
            Keys = random.Pick([1, 2, 2, 5]),
            MaxValue = random.Pick([16, 64, 2_000]),
            Faults = faults,
            Network = NetworkOf(random, faults),
            Disk = DiskOf(random, faults),
            RequestTimeout = random.Pick([100_000L, 500_000, 2_000_000]),
            FaultInterval = random.Pick([50_000L, 200_000, 1_000_000]),
            FaultsUntil = random.Pick([5_000_000L, 20_000_000, 60_000_000]),
            SlowScheduling = Has(CraqFault.SlowScheduling) ? random.Pick([0.02, 0.2]) : 0,
            LogLatency = random.Pick([2_000L, 10_000, 100_000]),
            WindowRecords = random.Pick([1, 3, 4096]),
            WindowIds = random.Pick([8, 100, 65_536]),
            HotBytes = store.Pick([1_000L, 20_000, 32 << 20]),
            Store = SmallStore(store.Pick([1, 1, 2, 4]), store.Pick([20, 60, 200, 1_000_000])),
            Reads = random.Pick([0.2, 0.5, 0.8]),
            Think = random.Pick([100L, 1_000, 20_000]),
        };
        plan = WithOwnChoices(plan);
        return WithRelay(hasAgents ? WithLeases(WithAgents(plan, agents)) : plan);
    }

    // Choices that came later have a source each, so that seeds stayed as they were.
    private static CraqPlan WithOwnChoices(CraqPlan plan)
    {
        var transactions = new SimRandom(plan.Seed).Split("transactions");
        plan = plan with
        {
            Transactions = plan.Chains > 1 ? transactions.Pick([0, 0.2, 0.5]) : 0,
            LockLimit = transactions.Pick([200_000L, 1_000_000, TimeSpan.TicksPerSecond]),
        };
        var expiry = new SimRandom(plan.Seed).Split("expiry");
        if (expiry.Chance(0.3))
            plan = plan with { Expiring = expiry.Pick([0.3, 0.8]), Sweep = expiry.Pick([20_000L, 100_000, 500_000]) };
        // Longer than the others need for a new epoch, so that late answers come behind it.
        if (plan.Has(CraqFault.CutOff))
        {
            var late = new SimRandom(plan.Seed).Split("late");
            plan = plan with { RequestTimeout = late.Pick([500_000L, 2_000_000, 2_000_000]) };
        }
        return plan;
    }

    private static CraqPlan WithRelay(CraqPlan plan)
    {
        var random = new SimRandom(plan.Seed).Split("relay");
        if (plan.Length == 1 || !random.Chance(0.4))
        {
            plan.Faults.Remove(CraqFault.LostRelay);
            return plan;
        }

        return plan with
        {
            Options = plan.Options with { Values = ValuePath.Relay },
            RelayFrom = random.Pick([1, 12, 40]),
            RelayBytes = random.Pick([500L, 5_000, 64 << 20]),
            RelayLoss = plan.Has(CraqFault.LostRelay) ? random.Pick([0.05, 0.3, 0.9]) : 0,
        };
    }

    // More time: agents need some, and faults last long enough to be noticed.
    private static CraqPlan WithAgents(CraqPlan plan, SimRandom random) => plan with
    {
        Pace = random.Pick([0.05, 0.1, 0.2]),
        Spares = random.Pick([0, 1, 1, 2]),
        Length = Math.Min(plan.Length, 4),
        MinMembers = Math.Min(plan.MinMembers, Math.Min(plan.Length, 4)),
        Chains = Math.Min(plan.Chains, 2),
        Think = random.Pick([5_000L, 50_000, 200_000]),
        FaultInterval = random.Pick([300_000L, 1_000_000, 3_000_000]),
        FaultsUntil = random.Pick([10_000_000L, 30_000_000]),
    };

    // Nodes without agents have no leases.
    private static CraqPlan WithLeases(CraqPlan plan)
    {
        var random = new SimRandom(plan.Seed).Split("leases");
        return random.Chance(0.5)
            ? plan with
            {
                Options = plan.Options with { Reads = EpochProof.Leased },
                Follow = random.Pick([50_000L, 500_000, 3_000_000]),
            }
            : plan;
    }

    private static NodeStoreOptions SmallStore(int pagesPerSegment, int checkpointRecords)
    {
        const int Page = 16 << 10;
        return new NodeStoreOptions
        {
            LogPageSize = Page,
            LogMemory = 8 * Page,
            SegmentSize = pagesPerSegment * Page,
            Reserve = 4 * Page,
            HotBytes = Page,
            CheckpointRecords = checkpointRecords,
            SpareSegments = 2,
        };
    }
}
