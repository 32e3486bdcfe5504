namespace Corfu.Checkers;

/// <summary>Names of the checkers, one for each invariant; docs/testing-simulator.md lists what each one
/// means.</summary>
public static class CheckerNames
{
    public const string WriteOnce = "write-once";
    public const string ChainPrefix = "chain-prefix";
    public const string UnitDurable = "unit-durable";
    public const string SealedEpoch = "sealed-epoch";
    public const string AckComplete = "ack-complete";
    public const string NothingLost = "nothing-lost";
    public const string ExactlyOnce = "exactly-once";
    public const string LogOrder = "log-order";
    public const string Check = "check";
    public const string ReadValue = "read-value";
    public const string ReadCommitted = "read-committed";
    public const string SealComplete = "seal-complete";
    public const string FillRule = "fill-rule";
    public const string TokenUnique = "token-unique";
    public const string OneProjection = "one-projection";
    public const string StreamWalk = "stream-walk";
    public const string StreamTails = "stream-tails";
    public const string Opacity = "opacity";
    public const string ViewsEqual = "views-equal";
    public const string Transactions = "transactions";
    public const string Awaited = "awaited";
    public const string Deleted = "deleted";
    public const string Past = "past";
    public const string Feed = "feed";
    public const string Index = "index";
    public const string Lock = "lock";
    public const string Silence = "silence";
    public const string Work = "work";
    public const string Phantom = "phantom";
    public const string DiskUse = "disk-use";
    public const string Decisions = "decisions";
    public const string Decided = "decided";
    public const string AbortJustified = "abort-justified";
    public const string Liveness = "liveness";
    public const string Determinism = "determinism";
    public const string Membership = "membership";
    public const string TrimComplete = "trim-complete";
    public const string TrimPoint = "trim-point";
    public const string HandOver = "hand-over";
    public const string Unhandled = "unhandled";

    // Checkers of the object store.
    public const string ObjectLinear = "object-linear";
    public const string Bounded = "bounded";
    public const string Session = "session";
    public const string Once = "once";
    public const string Transact = "transact";
    public const string ChainLog = "chain-log";
    public const string CommittedOnly = "committed-only";
    public const string Fence = "fence";
    public const string Learn = "learn";
    public const string NodeDurable = "node-durable";

    // Checkers of the block store.
    public const string Ordered = "ordered";
    public const string Fresh = "fresh";
    public const string Verified = "verified";
    public const string Prefix = "prefix";
    public const string LossTold = "loss-told";
    public const string Unanimous = "unanimous";
    public const string OneWriter = "one-writer";
    public const string OneGeneration = "one-generation";
    public const string Root = "root";
    public const string SameFiles = "same-files";
    public const string Snapshot = "snapshot";
    public const string Retention = "retention";
    public const string Accusation = "accusation";
    public const string Live = "live";

    public const string ZooKeeperZxid = "zk-zxid";
    public const string ZooKeeperViews = "zk-views";
    public const string ZooKeeperReply = "zk-reply";
    public const string ZooKeeperOnce = "zk-once";
    public const string ZooKeeperFence = "zk-fence";
    public const string ZooKeeperAlive = "zk-alive";
    public const string ZooKeeperEphemeral = "zk-ephemeral";
    public const string ZooKeeperMulti = "zk-multi";
    public const string ZooKeeperSequence = "zk-sequence";
    public const string ZooKeeperOrder = "zk-order";
    public const string ZooKeeperWatch = "zk-watch";
    public const string ZooKeeperSilence = "zk-silence";

    public const string MachineOnce = "machine-once";
    public const string MachineEqual = "machine-equal";
    public const string MachineQuery = "machine-query";
    public const string LedgerEnd = "ledger-end";
    public const string LedgerAck = "ledger-ack";
    public const string LedgerKept = "ledger-kept";
    public const string StoreRevision = "store-revision";
    public const string StoreRead = "store-read";
    public const string StoreWatch = "store-watch";
    public const string StoreLease = "store-lease";
}
