using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>How to run one unit.</summary>
public sealed record UnitNodeOptions
{
    /// <summary>The data folder; formatted if it is empty or missing. Null keeps everything in memory: for tests only,
    /// nothing survives.</summary>
    public string? Folder { get; init; }

    /// <summary>The unit has served before: a missing or empty folder is an error, never formatted again (R2). Default
    /// false.</summary>
    public bool MustExist { get; init; }

    /// <summary>The unit's identity, where the host keeps it; none draws one when the folder is formatted.</summary>
    public NodeId Id { get; init; }

    /// <summary>The cluster that the unit belongs to: it installs no other's projections. None where the folder says
    /// it.</summary>
    public ClusterId Cluster { get; init; }

    /// <summary>Larger payloads are refused. Default 1 MiB.</summary>
    public int MaxPayload { get; init; } = EntryCodec.DefaultMaxPayload;

    public PageStoreOptions Store { get; init; } = new();

    public UnitHandlerOptions Handler { get; init; } = new();

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate()
    {
        var store = Store.Fault();
        OptionRules.Check(
            nameof(UnitNodeOptions),
            (nameof(MaxPayload), MaxPayload > 0 && MaxPayload <= Store.LogPageSize / 2),
            (nameof(Handler.MaxWaitingAnswers), Handler.MaxWaitingAnswers > 0),
            (nameof(Handler.MaxPendingReads), Handler.MaxPendingReads > 0),
            ($"{nameof(Store)} ({store})", store is null));
    }
}
