using Corfu;

namespace Tango;

/// <summary>Limits of one runtime. None of them influences what playback decides: those parameters are records in the
/// log.</summary>
public sealed record TangoOptions
{
    private static readonly TimeSpan s_shortest = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan s_longest = TimeSpan.FromDays(1);

    private static readonly OptionRules<TangoOptions> s_rules = new OptionRules<TangoOptions>(new())
        .AtLeast(o => o.MaxQueuedCalls, 1)
        .AtLeast(o => o.MaxQueuedBytes, 1)
        .AtLeast(o => o.MaxAppendsInFlight, 1)
        .Between(o => o.MaxBatchRecords, 1, 4_096)
        .AtLeast(o => o.MaxBatchBytes, 1)
        // A batch with more would fail as a whole.
        .Between(o => o.MaxBatchStreams, 1, EntryLimits.MaxStreams)
        .AtLeast(o => o.MaxResolveAttempts, 0)
        .AtLeast(o => o.MaxPlaybackAttempts, 0)
        .Above(o => o.RetryDelay, TimeSpan.Zero)
        .Must(o => o.MaxRetryDelay, o => o.MaxRetryDelay >= o.RetryDelay && o.MaxRetryDelay <= s_longest,
            "RetryDelay to a day")
        // Zero would keep the watch of orphans busy; a negative one, or one too long for a timer, would end it.
        .Between(o => o.OrphanTimeout, s_shortest, s_longest)
        .Between(o => o.RemoteStay, TimeSpan.Zero, s_longest)
        .AtLeast(o => o.MaxRemoteCohorts, 0)
        .Between(o => o.IdlePlayback, s_shortest, s_longest)
        .Between(o => o.WaitInterval, s_shortest, s_longest)
        .Must(o => o.Decisions, o => Enum.IsDefined(o.Decisions), "Playback or Sequencer")
        .AtLeast(o => o.PublishEvery, 1)
        .AtLeast(o => o.NewObjectVersionCapacity, 1)
        .Between(o => o.NewLogMaxSpan, 1, uint.MaxValue)
        .Between(o => o.NewLogVersionAge, 1, uint.MaxValue)
        .Must(o => o.Checkpoints, o => o.Checkpoints is null or { Updates: > 0, Bytes: > 0 },
            "none, or with Updates and Bytes of at least 1");

    /// <summary>Calls waiting to be sent; more are refused with <see cref="TangoBusyException"/>. Default
    /// 100,000.</summary>
    public int MaxQueuedCalls { get; init; } = 100_000;

    /// <summary>Bytes of calls waiting to be sent; more are refused with <see cref="TangoBusyException"/>, but one call
    /// may always wait. Default: 256 MiB.</summary>
    public long MaxQueuedBytes { get; init; } = 256L << 20;

    /// <summary>Entries being appended at once. With 1, callers that come while an append is in flight share the next
    /// entry. Default 1.</summary>
    public int MaxAppendsInFlight { get; init; } = 1;

    /// <summary>Records of one batch, at most 4,096. Default 256.</summary>
    public int MaxBatchRecords { get; init; } = 256;

    /// <summary>Bytes of one batch; a larger record is sent alone. Default 64 KiB.</summary>
    public int MaxBatchBytes { get; init; } = 64 * 1024;

    /// <summary>Streams of one batch, at most 1,024; a transaction with more than this is sent alone. Default
    /// 32.</summary>
    public int MaxBatchStreams { get; init; } = 32;

    /// <summary>How often an append's unknown outcome is looked up before its callers are told it is in doubt. Default
    /// 3.</summary>
    public int MaxResolveAttempts { get; init; } = 3;

    /// <summary>How often playing up to an own record is tried before its caller is told it is in doubt. Default
    /// 8.</summary>
    public int MaxPlaybackAttempts { get; init; } = 8;

    /// <summary>First pause between such attempts; it doubles, with jitter. Default 1 ms.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Default 100 ms; at least <see cref="RetryDelay"/>, at most a day.</summary>
    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// How long a commit record may be without its decision record before a host of its read set publishes one;
    /// after twice that, a runtime that is blocked by it plays the read set itself.
    /// Between a millisecond and a day. Default 100 ms.
    /// </summary>
    // Only hosts of the read set can decide; a blocked runtime becomes one by playing it (R20).
    public TimeSpan OrphanTimeout { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>How long an object of <see cref="TangoRuntime.OpenRemoteAsync{T}"/> stays hosted after its last use.
    /// It leaves when this runtime plays next after that. At most a day. Default: one minute.</summary>
    public TimeSpan RemoteStay { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>Objects of <see cref="TangoRuntime.OpenRemoteAsync{T}"/> that stay hosted after their last use, a group
    /// counting as one. Beyond, the one leaves that was used first. One with leases stays in any case. Default:
    /// 1,000.</summary>
    public int MaxRemoteCohorts { get; init; } = 1_000;

    /// <summary>How often this runtime plays while nothing reads through it. A quiet program then stays close to the
    /// tail: its next read is quick, one that only writes makes checkpoints of its open objects, and programs of older
    /// code hear the decisions that they cannot make. Each time costs one request to the sequencer. Null: never.
    /// Between a millisecond and a day. Default: one second.</summary>
    public TimeSpan? IdlePlayback { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How often this runtime plays while a call waits for a change of an object: for a lock, or an item of a
    /// work queue. It costs one request to the sequencer each time. Between a millisecond and a day. Default: 20
    /// milliseconds.</summary>
    public TimeSpan WaitInterval { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Entries applied before readers and waiting callers see the result. Default 128.</summary>
    public int PublishEvery { get; init; } = 128;

    /// <summary>
    /// Keys whose versions an object keeps at most, recorded in the directory when the object is created and fixed from
    /// then on; see <see cref="NewLogVersionAge"/> too. A transaction whose snapshot is older than the oldest version
    /// kept aborts. Default 65,536.
    /// </summary>
    // Eviction follows from the recorded capacity alone, so that all runtimes decide alike (R18).
    public int NewObjectVersionCapacity { get; init; } = 65_536;

    /// <summary>
    /// How many positions a spilled transaction may lie before its commit record, in a log in which this runtime
    /// creates the first object; fixed from then on. One that takes longer aborts. Objects keep so much history below
    /// their checkpoints. Default 16,384.
    /// </summary>
    // A commit record further behind its first spill aborts at every runtime (R19).
    public long NewLogMaxSpan { get; init; } = TangoDirectory.DefaultMaxSpan;

    /// <summary>
    /// For how many positions an object remembers which of its keys was written, in a log in which this runtime creates
    /// the first object; fixed from then on. Versions so far below the object's newest write are forgotten, and a
    /// transaction that read the object below them aborts. Default 262,144, sixteen times <see cref="NewLogMaxSpan"/>.
    /// </summary>
    // All runtimes forget the same versions, so that all decide alike (R18).
    public long NewLogVersionAge { get; init; } = TangoDirectory.DefaultVersionAge;

    /// <summary>How transactions that read and write are decided. Default: by playback.</summary>
    public TransactionDecisions Decisions { get; init; } = TransactionDecisions.Playback;

    /// <summary>When checkpoints are made by this runtime itself; null: never. Default: the limits of
    /// <see cref="CheckpointPolicy"/>.</summary>
    public CheckpointPolicy? Checkpoints { get; init; } = new();

    /// <summary>Types of group members that this program does not open itself. A member of an unknown type is played
    /// without a view, and its group is not checkpointed here. Types opened by name need not be listed.</summary>
    // A member without a view has versions, which are enough to decide transactions (R20).
    public TangoTypeRegistry Types { get; init; } = new();

    /// <summary>The highest feature level that the runtime reads and writes, and that of a log in which it creates the
    /// first object. Another one only in tests, which play newer code.</summary>
    internal int NewestLevel { get; init; } = FeatureLevel.Newest;

    /// <summary>Bits of the hashes of keys in declarations. Fewer only in tests, at all runtimes of a log.</summary>
    internal int CellBits { get; init; } = 64;

    /// <summary>A sentence for each option that is out of range; a runtime with any of them is refused.</summary>
    public IReadOnlyList<string> Faults() => s_rules.FaultsOf(this);
}
