using System.Globalization;
using Corfu.Grpc.Protocol;
using Grpc.Core;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>Maps exceptions of Tango and of these services to a caller's errors.</summary>
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
        Row<TangoLeaseLostException>(StatusCode.FailedPrecondition, ErrorReason.Rejected);
        Row<TangoTrimmedException>(StatusCode.OutOfRange, ErrorReason.Trimmed);
        Row<TangoTooLargeException>(StatusCode.InvalidArgument, ErrorReason.EntryTooLarge);
        Row<TangoBusyException>(StatusCode.ResourceExhausted, ErrorReason.Overloaded);
        Row<TangoInDoubtException>(StatusCode.Unknown, ErrorReason.InDoubt);
        // Nothing took effect, and it may be called again.
        Row<TangoSpillException>(StatusCode.Unavailable, ErrorReason.Unavailable);
        Row<TangoAbortedException>(StatusCode.Aborted, ErrorReason.Conflict);
        // The process's playback has ended: another front end serves.
        Row<TangoPlaybackFailedException>(StatusCode.Unavailable, ErrorReason.ShuttingDown);
        Row<FrontEndStoppingException>(StatusCode.Unavailable, ErrorReason.ShuttingDown);
        Row<SessionNotFoundException>(StatusCode.NotFound, ErrorReason.SessionNotFound);
        Row<SessionSilentException>(StatusCode.NotFound, ErrorReason.SessionNotFound);
        Row<RequestNotFoundException>(StatusCode.NotFound, ErrorReason.RequestNotFound);
        Row<RequestExistsException>(StatusCode.AlreadyExists, ErrorReason.RequestExists);
        Row<PageExpiredException>(StatusCode.OutOfRange, ErrorReason.PageExpired);
        Row<AnswerTooLargeException>(StatusCode.ResourceExhausted, ErrorReason.AnswerTooLarge);
        Row<NotWrittenException>(StatusCode.Aborted, ErrorReason.NotWritten);
        Row<TransactionInDoubtException>(StatusCode.Unknown, ErrorReason.InDoubt,
            static (e, metadata) => metadata.Add("request_id", e.RequestId));
        Row<TransactionAbortedException>(StatusCode.Aborted, ErrorReason.Conflict, Describe);
        Row<WatchTrimmedException>(StatusCode.OutOfRange, ErrorReason.Trimmed,
            static (e, metadata) => metadata.Add("position", Text(e.Place.Position.Offset)));
    }

    private static void Describe(TransactionAbortedException e, IDictionary<string, string> metadata)
    {
        metadata.Add("object", e.Aborted.Object);
        if (e.Aborted.HasKey) metadata.Add("key", e.Aborted.Key);
        if (e.Aborted.Position is { } position) metadata.Add("position", Text(position.Offset));
    }

    private static void Row<T>(
        StatusCode code, string reason, Action<T, IDictionary<string, string>>? metadata = null)
        where T : Exception =>
        ErrorTable.Add(typeof(T), code, reason, metadata is null ? null : (e, into) => metadata((T)e, into));

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>The session has ended, or is of another front end.</summary>
internal sealed class SessionNotFoundException(string session)
    : Exception($"There is no session '{session}' at this front end.");

/// <summary>The session was not renewed for its time to live: the caller sent no keep-alive, or stopped reading, or the
/// log could not be reached.</summary>
internal sealed class SessionSilentException()
    : Exception("No keep-alive was carried out within the session's time to live; the session has ended.");

/// <summary>The front end does not remember the write.</summary>
internal sealed class RequestNotFoundException(string id)
    : Exception($"This front end does not remember a request '{id}' of this caller.");

/// <summary>The caller used an id twice.</summary>
internal sealed class RequestExistsException(string id)
    : Exception($"There is a request '{id}' already: ask Resolve for its outcome.");

/// <summary>The list is not kept any more, or is another front end's.</summary>
internal sealed class PageExpiredException()
    : Exception("This front end does not keep the list of that page_token; begin again.");

/// <summary>A single write was not sent.</summary>
internal sealed class NotWrittenException(string message) : Exception(message);

/// <summary>A single write ended in doubt.</summary>
internal sealed class TransactionInDoubtException(V1.InDoubt outcome) : Exception(outcome.Message)
{
    public string RequestId { get; } = outcome.RequestId;
}

/// <summary>A single write lost to others too often.</summary>
internal sealed class TransactionAbortedException(V1.Aborted outcome) : Exception(outcome.Message)
{
    public V1.Aborted Aborted { get; } = outcome;
}

/// <summary>The next change of a watch is trimmed.</summary>
/// <param name="place">The first place from which changes are still in the log.</param>
internal sealed class WatchTrimmedException(ChangePlace place)
    : Exception($"Changes up to {place} are trimmed: list the entries and watch from there, or ask for a reset.")
{
    public ChangePlace Place { get; } = place;
}
