using System.Globalization;
using Corfu.Grpc.Protocol;
using Grpc.Core;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>What exceptions of Tango and of these services mean to a caller.</summary>
internal static class TangoErrors
{
    public static void Add()
    {
        Row<TangoObjectNotFoundException>(StatusCode.NotFound, ErrorReason.ObjectNotFound,
            static (e, metadata) => metadata.Add("object", e.Name));
        Row<TangoObjectDeletedException>(StatusCode.NotFound, ErrorReason.ObjectNotFound,
            static (e, metadata) => metadata.Add("object", e.ObjectName));
        Row<TangoDirectoryException>(StatusCode.FailedPrecondition, ErrorReason.ObjectType);
        Row<TangoFormatException>(StatusCode.FailedPrecondition, ErrorReason.ObjectType);
        Row<TangoObjectStoppedException>(StatusCode.FailedPrecondition, ErrorReason.ObjectStopped,
            static (e, metadata) => metadata.Add("object", e.ObjectName));
        Row<TangoLevelException>(StatusCode.FailedPrecondition, ErrorReason.FeatureLevel);
        Row<TangoRejectedException>(StatusCode.FailedPrecondition, ErrorReason.Rejected);
        Row<TangoTrimmedException>(StatusCode.OutOfRange, ErrorReason.Trimmed);
        Row<TangoTooLargeException>(StatusCode.InvalidArgument, ErrorReason.EntryTooLarge);
        Row<TangoBusyException>(StatusCode.ResourceExhausted, ErrorReason.Overloaded);
        Row<TangoInDoubtException>(StatusCode.Unknown, ErrorReason.InDoubt);
        Row<FrontEndLimitException>(StatusCode.ResourceExhausted, ErrorReason.Overloaded,
            static (e, metadata) => metadata.Add("limit", e.Name));
        Row<FrontEndStoppingException>(StatusCode.Unavailable, ErrorReason.ShuttingDown);
        Row<SessionNotFoundException>(StatusCode.NotFound, ErrorReason.SessionNotFound);
        Row<SessionSilentException>(StatusCode.FailedPrecondition, ErrorReason.SessionNotFound);
        Row<TransactionNotFoundException>(StatusCode.NotFound, ErrorReason.TransactionNotFound);
        Row<TransactionExistsException>(StatusCode.AlreadyExists, ErrorReason.TransactionExists);
        Row<TransactionInDoubtException>(StatusCode.Unknown, ErrorReason.InDoubt,
            static (e, metadata) => metadata.Add("transaction", e.Transaction));
        Row<TransactionAbortedException>(StatusCode.Aborted, ErrorReason.Conflict, Describe);
        Row<WatchTrimmedException>(StatusCode.OutOfRange, ErrorReason.Trimmed,
            static (e, metadata) => metadata.Add("position", Text(e.Place.Position.Offset)));
    }

    private static void Describe(TransactionAbortedException e, IDictionary<string, string> metadata)
    {
        metadata.Add("object", e.Aborted.Object);
        if (e.Aborted.HasKey) metadata.Add("key", e.Aborted.Key);
        if (e.Aborted.HasPosition) metadata.Add("position", Text((long)e.Aborted.Position));
    }

    private static void Row<T>(
        StatusCode code, string reason, Action<T, IDictionary<string, string>>? metadata = null)
        where T : Exception =>
        ErrorTable.Add(typeof(T), code, reason, metadata is null ? null : (e, into) => metadata((T)e, into));

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>A limit of the front end is reached. Nothing was done.</summary>
internal sealed class FrontEndLimitException(string name, int limit)
    : Exception($"The front end's limit is reached: {name} is {limit}.")
{
    public string Name { get; } = name;
}

/// <summary>The session has ended, or is of another front end.</summary>
internal sealed class SessionNotFoundException(string session)
    : Exception($"There is no session '{session}' at this front end.");

/// <summary>The caller sent nothing for its session's time to live.</summary>
internal sealed class SessionSilentException()
    : Exception("No keep-alive came within the session's time to live; the session has ended.");

/// <summary>The front end does not remember the transaction.</summary>
internal sealed class TransactionNotFoundException(string transaction)
    : Exception($"This front end does not remember a transaction '{transaction}'.");

/// <summary>The caller used a transaction's id twice.</summary>
internal sealed class TransactionExistsException(string transaction)
    : Exception($"There is a transaction '{transaction}' already: ask Resolve for its outcome.");

/// <summary>A single write ended in doubt.</summary>
internal sealed class TransactionInDoubtException(V1.InDoubt outcome) : Exception(outcome.Message)
{
    public string Transaction { get; } = outcome.Transaction;
}

/// <summary>A single write lost to others too often.</summary>
internal sealed class TransactionAbortedException(V1.Aborted outcome) : Exception(outcome.Message)
{
    public V1.Aborted Aborted { get; } = outcome;
}

/// <summary>What a watch was to tell next is trimmed.</summary>
/// <param name="place">The first one that can be told from.</param>
internal sealed class WatchTrimmedException(ChangePlace place)
    : Exception($"Changes up to {place} are trimmed: list the entries and watch from there, or ask for a reset.")
{
    public ChangePlace Place { get; } = place;
}
