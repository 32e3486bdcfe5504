namespace Craq;

/// <summary>Bounds and intervals of a node. At a bound a request is refused with <see cref="Status.Overloaded"/> and
/// nothing has changed.</summary>
internal sealed record CraqNodeOptions
{
    /// <summary>Bytes of records that are not known to be committed, over all chains.</summary>
    public long MaxDirtyBytes { get; init; } = 64 << 20;

    /// <summary>Records that are not known to be committed, over all chains.</summary>
    public int MaxDirtyRecords { get; init; } = 64 * 1024;

    /// <summary>Bytes of committed records that stay in memory for members that lack them.</summary>
    public long MaxHotBytes { get; init; } = 32 << 20;

    /// <summary>Bytes of the chains' windows of recent write ids, and of recent refusals.</summary>
    public long MaxWindowBytes { get; init; } = 64 << 20;

    /// <summary>Ids in the window of one chain.</summary>
    public int MaxWindowIds { get; init; } = 64 * 1024;

    /// <summary>Bytes of ids in a chain's state, which has to fit into a page of the log with
    /// <see cref="MaxLockBytes"/>.</summary>
    public int MaxWindowState { get; init; } = 512 << 10;

    /// <summary>Requests that wait at once: reads for a round, mutations for their commit.</summary>
    public int MaxWaiting { get; init; } = 64 * 1024;

    public int MaxChains { get; init; } = 100_000;

    /// <summary>Bytes of a record. The default leaves room for a value of one MiB.</summary>
    public int MaxRecord { get; init; } = (1 << 20) + (64 << 10);

    /// <summary>Bytes of the parts of transactions that hold keys of one chain: with its ids they fit into a page of
    /// the log.</summary>
    public int MaxLockBytes { get; init; } = 1 << 20;

    /// <summary>Bytes of mutations that wait for transactions which hold their keys, over all chains.</summary>
    public long MaxBlockedBytes { get; init; } = 64 << 20;

    /// <summary>Bytes under way to a successor.</summary>
    public int WindowBytes { get; init; } = 32 << 20;

    /// <summary>Records under way to a successor.</summary>
    public int WindowRecords { get; init; } = 4096;

    /// <summary>Bytes of one message to a successor, or of one answer to a fetch.</summary>
    public int BatchBytes { get; init; } = 1 << 20;

    /// <summary>Bytes of a record's values from which they go along the tree, where the chain's option is the
    /// relay.</summary>
    public int RelayFrom { get; init; } = 8 << 10;

    /// <summary>Bytes of relayed values that wait for their records, over all chains; and as many that are being passed
    /// on.</summary>
    public long MaxRelayBytes { get; init; } = 64 << 20;

    /// <summary>A member waits so long for a relayed value before it fetches the record.</summary>
    public TimeSpan RelayWait { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Interval of probes, repeated requests and rounds that wait.</summary>
    public TimeSpan Tick { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>A round of confirmations that is not the only one starts so long after the newest.</summary>
    public TimeSpan RoundSpacing { get; init; } = TimeSpan.FromMilliseconds(5);

    /// <summary>A round asks the fewest members that suffice, and the others too after so long without their
    /// answers.</summary>
    public TimeSpan RoundSilence { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Delay before a member that did not answer is asked again.</summary>
    public TimeSpan Retry { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>A mark is stored within this time.</summary>
    public TimeSpan MarkDelay { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>A strong read that nothing has confirmed ends as unconfirmed.</summary>
    public TimeSpan ReadLimit { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A mutation that is not committed by then ends, its outcome unknown.</summary>
    public TimeSpan WriteLimit { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Time after which a read that waits for members asks the directory too.</summary>
    public TimeSpan LoggedAfter { get; init; } = TimeSpan.FromMilliseconds(200);

    /// <summary>A mutation waits so long for a transaction that holds its keys; after that time the chain ends the
    /// transaction itself if its lead has not.</summary>
    public TimeSpan LockLimit { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A transaction whose parts do not all vote within this time is aborted.</summary>
    public TimeSpan VoteLimit { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Time for telling a transaction's outcome to the heads of its parts.</summary>
    public TimeSpan SettleLimit { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>Expired objects are deleted so often. A pass over the index, if an object has an expiry.</summary>
    public TimeSpan ExpiryInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>Decisions of transactions that two looks in a row find are ended and dropped. A look reads the log
    /// once.</summary>
    public TimeSpan DecisionInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Time for one request to another node.</summary>
    public TimeSpan CallLimit { get; init; } = TimeSpan.FromSeconds(2);
}
