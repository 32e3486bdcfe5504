using Corfu.Simulation.Kernel.Disk;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Corfu.Unit;

namespace Corfu.Simulation.Workload;

/// <summary>
/// Everything a seed decides before it starts. Swarm testing: a random subset of fault kinds and sizes per seed, else
/// every run is the same soup. A plan can be written down by hand as well (regression cases).
/// </summary>
public sealed record SeedPlan
{
    public required ulong Seed { get; init; }

    public WorkloadKind Kind { get; init; }

    public int Units { get; init; } = 3;

    /// <summary>Freshly formatted units that no chain names at first.</summary>
    public int Spares { get; init; }

    public int Replicas { get; init; } = 2;

    public int Acceptors { get; init; } = 3;

    public int Clients { get; init; } = 3;

    /// <summary>Concurrent loops per client.</summary>
    public int Workers { get; init; } = 3;

    /// <summary>The run ends when this many have been answered.</summary>
    public int Operations { get; init; } = 500;

    public int Streams { get; init; } = 4;

    public bool Trims { get; init; }

    /// <summary>Whether the log is trimmed under objects: without checkpoints to start from, only where no client
    /// starts again.</summary>
    public bool TrimsObjects =>
        Trims && Kind == WorkloadKind.Tango && (Checkpoints || !Has(FaultKind.KillClient));

    /// <summary>Whether Tango's runtimes make checkpoints by themselves.</summary>
    public bool Checkpoints { get; init; }

    /// <summary>
    /// Whether some clients run older code, which cannot read all that the newer one writes. Under trims only with
    /// checkpoints: newer code opens the read set from them to decide what an older client wrote.
    /// </summary>
    public bool TwoVersions { get; init; }

    /// <summary>Whether Apply fails now and then at one client, which plays the object anew: under trims only with
    /// checkpoints to start from.</summary>
    public bool Stumbles { get; init; }

    /// <summary>
    /// Whether entries are so small that large transactions do not fit into one (R19). Under trims only with
    /// checkpoints: other trims heed no claims, and would take spills whose commit records are not played.
    /// </summary>
    public bool Spills { get; init; }

    /// <summary>Whether objects are deleted and their names used again.</summary>
    public bool Deletes { get; init; }

    /// <summary>Whether clients read past states and feeds.</summary>
    public bool Feeds { get; init; }

    /// <summary>Whether the group gets a member while it is used, of which some clients do not know the
    /// type.</summary>
    public bool Grows { get; init; }

    /// <summary>Whether that member is removed at times.</summary>
    public bool Removes { get; init; }

    /// <summary>Whether clients keep values in the log, which holds it (R22).</summary>
    public bool Indexes { get; init; }

    /// <summary>Whether clients fork objects at past positions. The forks are deleted.</summary>
    public bool Forks => Feeds && Deletes;

    /// <summary>R20: long in some seeds, so that checkpoints and trims come while an orphan is undecided.</summary>
    public TimeSpan OrphanTimeout { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Time to live of locks and deliveries.</summary>
    public TimeSpan LeaseTime { get; init; } = TimeSpan.FromMilliseconds(150);

    /// <summary>R19: positions between a transaction's first spill and its commit record, which claims leave below
    /// checkpoints: short under trims, so that claims rise within a run.</summary>
    public long MaxSpan => !Spills ? 5 : TrimsObjects ? 60 : 1_000_000;

    /// <summary>R18: so many positions below an object's newest write its versions are kept; few in some seeds, so that
    /// snapshots fall below the mark.</summary>
    public long VersionAge { get; init; } = 100_000;

    public bool ForgetsVersions => VersionAge < 100;

    /// <summary>Clients of Tango, as bits, that ask the sequencer to decide.</summary>
    public int Asking { get; init; }

    /// <summary>Cells whose writes a sequencer holds: few in some seeds, so that transactions fall below the
    /// mark.</summary>
    public int MaxCells { get; init; } = 1 << 10;

    /// <summary>Bits of a key's cell: few in some seeds, so that keys share cells (R31).</summary>
    public int CellBits { get; init; } = 64;

    /// <summary>Sequencers that decide nothing.</summary>
    public double ShareWithoutRulings { get; init; }

    /// <summary>Largest payload of one entry, which a page of a unit's log holds: with <see cref="Spills"/>, hardly
    /// enough to create the group of objects.</summary>
    public int MaxPayload => Spills ? 236 : Store.LogPageSize / 2;

    /// <summary>Profile of each client, in turn.</summary>
    public IReadOnlyList<ClientProfile> Profiles { get; init; } = [ClientProfile.Mixed];

    public SortedSet<FaultKind> Faults { get; init; } = [];

    public NetworkOptions Network { get; init; } = new();

    public SimDiskOptions Disk { get; init; } = new();

    /// <summary>Options of the units' page stores: small, so that segments are cleaned and checkpoints taken.</summary>
    public PageStoreOptions Store { get; init; } = SmallStore(Page, 1, 60);

    /// <summary>A client's request time-out, in ticks: early in some seeds, so that outcomes are unknown
    /// often.</summary>
    public long RequestTimeout { get; init; } = 500_000;

    /// <summary>After how long a client gives an operation up.</summary>
    public TimeSpan OperationTimeout { get; init; } = TimeSpan.FromHours(1);

    /// <summary>Mean virtual time between two acts of the nemesis, in ticks.</summary>
    public long FaultInterval { get; init; } = 100_000;

    /// <summary>Faults stop after this virtual time, however far the workload got.</summary>
    public long FaultsUntil { get; init; } = 10_000_000;

    public double SlowScheduling { get; init; }

    /// <summary>Agents that decide on their own; null: operators do.</summary>
    public AgentPlan? Agents { get; init; }

    public long MaxClockSkew { get; init; }

    // A page of the units' logs.
    private const int Page = 16 << 10;

    private const double ShareWithAgents = 0.25;
    private const double ShareWithDecay = 0.1;
    private const double ShareWithTwoVersions = 0.4;
    private const double ShareWithCheckpoints = 0.5;
    private const double ShareWithStumbles = 0.5;
    private const double ShareWithSpills = 0.2;
    private const double ShareWithDeletes = 0.3;
    private const double ShareWithFeeds = 0.3;
    private const double ShareWithIndexes = 0.3;
    private const double ShareWithGrowth = 0.4;
    private const double ShareWithRemovals = 0.5;
    private const double ShareWithLateOrphans = 0.5;
    private const double ShareOfCoordination = 0.12;
    private const double ShareWithShortAges = 0.3;

    // After these a unit may be the only one that has a page, for a while or for good.
    private static readonly FaultKind[] s_moves =
        [FaultKind.ReplaceUnit, FaultKind.AddCapacity, FaultKind.Migrate, FaultKind.Reshape];

    public bool Has(FaultKind kind) => Faults.Contains(kind);

    /// <summary>Never the first client, which hosts or can play all that the older ones may wait for.</summary>
    public bool IsOld(int client) => TwoVersions && client > 0 && client < Clients && client != 3;

    public bool Asks(int client) => (Asking >> client & 1) != 0;

    public ClientProfile ProfileOf(int client) => Profiles[client % Profiles.Count];

    public static SeedPlan Of(ulong seed)
    {
        SimRandom random = new SimRandom(seed).Split("plan");
        SimRandom profiles = new SimRandom(seed).Split("profiles");
        int units = random.Pick([1, 2, 3, 3, 3, 4, 5]);
        SortedSet<FaultKind> faults = [];
        double density = random.Pick([0.1, 0.3, 0.5, 0.8]);
        // Faults that came later have generators of their own, so that the seeds from before mean what they meant.
        SimRandom later = new SimRandom(seed).Split("later faults");
        SimRandom space = new SimRandom(seed).Split("disk faults");
        foreach (FaultKind kind in Enum.GetValues<FaultKind>())
        {
            if (kind > FaultKind.DamagedPage) continue;
            if ((kind > FaultKind.Misread ? space : kind > FaultKind.AddCapacity ? later : random).Chance(density))
                faults.Add(kind);
        }

        if (faults.Contains(FaultKind.TornWrite) || faults.Contains(FaultKind.LostWrite))
            faults.Add(FaultKind.PowerCut);
        bool decays = space.Chance(ShareWithDecay);
        if (decays) faults.ExceptWith(s_moves);
        if (decays) faults.UnionWith([FaultKind.DamagedPage, FaultKind.Scrub]);
        bool Has(FaultKind kind) => faults.Contains(kind);
        int replicas = Math.Min(units, random.Pick([1, 2, 2, 2, 3]));
        // With one replica nothing survives that a spare could be rebuilt from (R14).
        if (replicas == 1) faults.Remove(FaultKind.ReplaceUnit);
        // Only agents notice that a disk is gone.
        faults.Remove(FaultKind.LoseDisk);
        if (replicas == 1) faults.Remove(FaultKind.Reshape);
        // A page that its unit takes for damaged needs another copy, which must not leave meanwhile, and which a full
        // disk keeps from coming.
        if (faults.Contains(FaultKind.FullDisk)) faults.Remove(FaultKind.Misread);
        if (replicas == 1 || faults.Overlaps(s_moves)) faults.ExceptWith([FaultKind.Misread, FaultKind.DamagedPage]);
        if (new SimRandom(seed).Split("wild").Chance(density / 4)) faults.Add(FaultKind.WildPositions);
        SimRandom rights = new SimRandom(seed).Split("rights");
        if (rights.Chance(density / 3)) faults.Add(FaultKind.Forgery);
        if (rights.Chance(density / 3)) faults.Add(FaultKind.DeniedWrites);
        SimRandom store = new SimRandom(seed).Split("store");
        var plan = new SeedPlan
        {
            Seed = seed,
            Kind = random.Chance(0.4) ? WorkloadKind.Tango : WorkloadKind.Log,
            Units = units,
            Replicas = replicas,
            Spares = Has(FaultKind.ReplaceUnit) || Has(FaultKind.AddCapacity) || Has(FaultKind.Reshape) ? 3 : 0,
            Acceptors = units < 3 ? 1 : 3,
            Clients = random.Between(2, 4),
            Workers = random.Between(2, 5),
            Operations = random.Between(300, 800),
            Streams = random.Between(2, 6),
            Trims = random.Chance(0.3),
            Profiles = [.. Enumerable.Range(0, 4).Select(i => ClientProfile.Draw(profiles, i == 0))],
            Faults = faults,
            Network = new NetworkOptions
            {
                MinLatency = random.Pick([50L, 200, 1_000]),
                Jitter = Has(FaultKind.Reordering) ? random.Pick([500L, 2_000, 10_000]) : 50,
                Loss = Has(FaultKind.Loss) ? random.Pick([0.005, 0.02, 0.1, 0.3]) : 0,
                Duplication = Has(FaultKind.Duplication) ? random.Pick([0.01, 0.1, 0.5]) : 0,
                LongDelay = Has(FaultKind.LongDelay) ? random.Pick([0.005, 0.02, 0.1]) : 0,
                LongDelayMax = random.Pick([20_000L, 200_000, 1_000_000]),
            },
            Disk = new SimDiskOptions
            {
                FlushLatency = random.Pick([300L, 1_500, 20_000]),
                SlowFlush = Has(FaultKind.SlowFlush) ? random.Pick([0.01, 0.1]) : 0,
                SlowFlushLatency = random.Pick([50_000L, 500_000]),
                KeepAtCrash = Has(FaultKind.LostWrite) ? random.Pick([0, 0.3, 0.7]) : 1,
                TearAtCrash = Has(FaultKind.TornWrite) ? random.Pick([0.3, 1]) : 0,
                // Twice in a row it is taken for damage; what is damaged for good is DamagedPage's part.
                Misread = Has(FaultKind.Misread) ? 0.05 : 0,
            },
            Store = SmallStore(Page, store.Pick([1, 1, 2, 4]), store.Pick([20, 60, 200, 1_000_000])),
            RequestTimeout = random.Pick([30_000L, 100_000, 500_000, 2_000_000]),
            OperationTimeout =
                random.Pick([TimeSpan.FromHours(1), TimeSpan.FromHours(1), TimeSpan.FromMilliseconds(500)]),
            FaultInterval = random.Pick([30_000L, 100_000, 400_000]),
            FaultsUntil = random.Pick([2_000_000L, 10_000_000, 30_000_000]),
            SlowScheduling = Has(FaultKind.SlowScheduling) ? random.Pick([0.02, 0.2]) : 0,
            MaxClockSkew = Has(FaultKind.ClockSkew) ? TimeSpan.TicksPerMinute : 0,
        };
        if (later.Chance(ShareWithAgents)) plan = WithAgents(plan, later);
        SimRandom coordination = new SimRandom(seed).Split("coordination");
        if (plan.Kind == WorkloadKind.Log && plan.Agents is null && coordination.Chance(ShareOfCoordination))
            return Coordinating(plan, coordination);
        plan = plan with
        {
            Checkpoints = plan.Kind == WorkloadKind.Tango
                && new SimRandom(seed).Split("checkpoints").Chance(ShareWithCheckpoints),
        };
        SimRandom decisions = new SimRandom(seed).Split("decisions");
        bool canOpenAnew = plan.Checkpoints || !plan.TrimsObjects;
        return plan with
        {
            TwoVersions = plan.Kind == WorkloadKind.Tango && canOpenAnew
                && new SimRandom(seed).Split("versions").Chance(ShareWithTwoVersions),
            Stumbles = plan.Kind == WorkloadKind.Tango && canOpenAnew
                && new SimRandom(seed).Split("stumbles").Chance(ShareWithStumbles),
            Spills = plan.Kind == WorkloadKind.Tango && canOpenAnew
                && new SimRandom(seed).Split("spills").Chance(ShareWithSpills),
            OrphanTimeout = plan.Checkpoints && new SimRandom(seed).Split("orphans").Chance(ShareWithLateOrphans)
                ? TimeSpan.FromMilliseconds(500)
                : plan.OrphanTimeout,
            Feeds = plan.Kind == WorkloadKind.Tango && canOpenAnew
                && new SimRandom(seed).Split("feeds").Chance(ShareWithFeeds),
            Deletes = plan.Kind == WorkloadKind.Tango && canOpenAnew
                && new SimRandom(seed).Split("deletes").Chance(ShareWithDeletes),
            VersionAge = plan.Kind == WorkloadKind.Tango && new SimRandom(seed).Split("ages").Chance(ShareWithShortAges)
                ? 6
                : plan.VersionAge,
            Grows = plan.Kind == WorkloadKind.Tango && canOpenAnew
                && new SimRandom(seed).Split("growth").Chance(ShareWithGrowth),
            Asking = plan.Kind is WorkloadKind.Tango or WorkloadKind.Coordination
                ? decisions.Pick([0, 0b0101, 0b1010, 0b1111])
                : 0,
            MaxCells = decisions.Pick([4, 8, 1 << 10]),
            CellBits = decisions.Pick([3, 64, 64]),
            ShareWithoutRulings = decisions.Pick([0, 0, 0.3]),
            Removes = new SimRandom(seed).Split("removals").Chance(ShareWithRemovals),
            // Claims that are recorded without checkpoints heed no values.
            Indexes = plan.Checkpoints && new SimRandom(seed).Split("indexes").Chance(ShareWithIndexes),
        };
    }

    /// <summary>The same with clients that coordinate. Their clocks agree, so that times in the log can be
    /// compared.</summary>
    private static SeedPlan Coordinating(SeedPlan plan, SimRandom random) => plan with
    {
        Kind = WorkloadKind.Coordination,
        Faults = [.. plan.Faults.Where(fault => fault != FaultKind.ClockSkew)],
        MaxClockSkew = 0,
        Trims = false,
        Checkpoints = random.Chance(ShareWithCheckpoints),
        Operations = random.Between(220, 350),
        LeaseTime = TimeSpan.FromMilliseconds(random.Pick([60, 150, 400])),
        // Operators are as rare as the leases are long: else nothing else is done.
        FaultInterval = Math.Max(plan.FaultInterval, 100_000),
    };

    internal static PageStoreOptions SmallStore(int page, int pagesPerSegment, int checkpointRecords)
    {
        return new PageStoreOptions
        {
            LogPageSize = page,
            LogMemory = 8 * page,
            SegmentSize = pagesPerSegment * page,
            Reserve = 2 * page,
            HotBytes = page,
            CheckpointRecords = checkpointRecords,
        };
    }

    /// <summary>The same under agents: more time, since they need some, and faults that last long enough to be
    /// noticed.</summary>
    private static SeedPlan WithAgents(SeedPlan plan, SimRandom random)
    {
        int replicas = Math.Max(2, plan.Replicas);
        int units = Math.Max(plan.Units, replicas);
        long think = random.Pick([100_000L, 300_000]);
        SortedSet<FaultKind> faults = [.. plan.Faults];
        if (random.Chance(0.6)) faults.Add(FaultKind.LoseDisk);
        faults.ExceptWith([FaultKind.Misread, FaultKind.DamagedPage]);
        SimRandom agents = new SimRandom(plan.Seed).Split("agents");
        int count = random.Between(2, 3) + (agents.Chance(0.4) ? 4 : 0);
        // A third agent is left that reaches everything, and a majority of acceptors.
        bool cutsOff = agents.Chance(0.5) && count >= 3 && units >= 3;
        if (cutsOff) faults.Add(FaultKind.LoseDisk);
        return plan with
        {
            // With more than four, no agent watches all processes.
            Agents = new AgentPlan { Count = count, Pace = random.Pick([0.2, 0.5]), CutsOffRebuilder = cutsOff },
            Faults = faults,
            Disk = plan.Disk with { Misread = 0 },
            Replicas = replicas,
            Units = units,
            Spares = random.Between(1, 3),
            Acceptors = units < 3 ? 1 : 3,
            Operations = random.Between(220, 450),
            Profiles = [.. plan.Profiles.Select(p => p with { Think = Math.Max(p.Think, think) })],
            FaultInterval = random.Pick([500_000L, 2_000_000]),
            FaultsUntil = random.Pick([10_000_000L, 30_000_000, 60_000_000]),
        };
    }
}
