namespace Corfu.Grpc;

/// <summary>Limits of <c>corfu.tango.v1</c>.</summary>
public sealed class TangoGrpcOptions
{
    internal static readonly OptionRules<TangoGrpcOptions> Rules = new OptionRules<TangoGrpcOptions>(new())
        .AtLeast(o => o.MaxSessions, 1)
        .AtLeast(o => o.MaxHeldPerSession, 1)
        .AtLeast(o => o.MaxOperations, 1)
        .AtLeast(o => o.MaxAttempts, 1)
        .AtLeast(o => o.MaxRememberedTransactions, 1)
        .AtLeast(o => o.MaxWatches, 1)
        .AtLeast(o => o.MaxSessionsOfCaller, 1)
        .AtLeast(o => o.MaxRememberedOfCaller, 1)
        .AtLeast(o => o.MaxWatchesOfCaller, 1)
        .AtLeast(o => o.MaxObjects, 0)
        .AtLeast(o => o.MaxObjectsOfCaller, 1)
        .Between(o => o.ObjectStay, TimeSpan.Zero, TimeSpan.FromDays(1))
        .AtLeast(o => o.MaxListings, 1)
        .AtLeast(o => o.MaxOpenLists, 1);

    /// <summary>Sessions at once. Default 10,000.</summary>
    public int MaxSessions { get; set; } = 10_000;

    /// <summary>The same of one caller. Default 1,000.</summary>
    public int MaxSessionsOfCaller { get; set; } = 1_000;

    /// <summary>Locks, deliveries and leases of one session. Default 1,000.</summary>
    public int MaxHeldPerSession { get; set; } = 1_000;

    /// <summary>Comparisons and operations of one transaction, and keys of one call. Default 1,000.</summary>
    public int MaxOperations { get; set; } = 1_000;

    /// <summary>How often a transaction is tried that loses to others, before its caller is told. Default
    /// 100.</summary>
    public int MaxAttempts { get; set; } = 100;

    /// <summary>Outcomes that are remembered for <c>Resolve</c>, of transactions in doubt and of those that their
    /// callers named; beyond, the oldest is forgotten. Default 10,000.</summary>
    public int MaxRememberedTransactions { get; set; } = 10_000;

    /// <summary>The same of one caller that the host authenticates: beyond, its own oldest is forgotten. Default
    /// 1,000.</summary>
    public int MaxRememberedOfCaller { get; set; } = 1_000;

    /// <summary>Watches at once. Default 1,024.</summary>
    public int MaxWatches { get; set; } = 1_024;

    /// <summary>The same of one caller. Default 128.</summary>
    public int MaxWatchesOfCaller { get; set; } = 128;

    /// <summary>Objects that stay open after their last use; beyond, the one is closed that was used first. Default
    /// null: as the host's runtime has it (<c>TangoOptions.MaxRemoteCohorts</c>), 1,000.</summary>
    public int? MaxObjects { get; set; }

    /// <summary>Objects that one caller has open at once, each until <see cref="ObjectStay"/> after its last use by the
    /// caller; calls to others are refused. Default 200.</summary>
    public int MaxObjectsOfCaller { get; set; } = 200;

    /// <summary>How long an object stays open after its last use. At most a day. Default null: as the host's runtime
    /// has it (<c>TangoOptions.RemoteStay</c>), one minute.</summary>
    public TimeSpan? ObjectStay { get; set; }

    /// <summary>Lists that are made at once, each of which copies a whole dictionary; more wait, and one caller has at
    /// most a quarter. Default 8.</summary>
    public int MaxListings { get; set; } = 8;

    /// <summary>Lists that are kept for their next pages; beyond, the one is dropped that was not asked for longest,
    /// and its caller begins again. Default 64.</summary>
    public int MaxOpenLists { get; set; } = 64;
}
