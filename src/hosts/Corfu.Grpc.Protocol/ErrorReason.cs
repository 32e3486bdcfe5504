namespace Corfu.Grpc.Protocol;

/// <summary>Reasons in a <c>google.rpc.ErrorInfo</c> of the front end. Stable: names are only ever added.</summary>
public static class ErrorReason
{
    /// <summary>The domain of every reason.</summary>
    public const string Domain = "corfu";

    /// <summary>An entry that is due was released by a trim. Metadata, in subscriptions: <c>position</c>,
    /// <c>mark</c>.</summary>
    public const string Trimmed = "TRIMMED";

    /// <summary>The position is at or above the tail.</summary>
    public const string NotGranted = "NOT_GRANTED";

    /// <summary>The entry exceeds a limit of the log.</summary>
    public const string EntryTooLarge = "ENTRY_TOO_LARGE";

    /// <summary>A stream of the wrong range. Metadata: <c>stream</c>.</summary>
    public const string StreamRange = "STREAM_RANGE";

    /// <summary>The request makes no sense; the message says which field.</summary>
    public const string InvalidRequest = "INVALID_REQUEST";

    /// <summary>Refused because too much waits already, or because a limit of the front end is reached; nothing was
    /// done. Metadata: <c>limit</c>, the option, and <c>retry_after_ms</c> where that is known.</summary>
    public const string Overloaded = "OVERLOADED";

    /// <summary>The units have no room; nothing was done.</summary>
    public const string NoSpace = "NO_SPACE";

    /// <summary>The cluster does not serve now; nothing was appended.</summary>
    public const string Unavailable = "UNAVAILABLE";

    /// <summary>Nothing at the front end's connection string leads to a cluster.</summary>
    public const string ClusterNotFound = "CLUSTER_NOT_FOUND";

    /// <summary>The log is a mirror, which takes no appends.</summary>
    public const string Mirror = "MIRROR";

    /// <summary>The page is damaged at every replica that was asked. Metadata: <c>position</c> and, in subscriptions,
    /// <c>mark</c>.</summary>
    public const string Corrupt = "CORRUPT";

    /// <summary>A committed position is unwritten at every replica. Metadata: <c>position</c>.</summary>
    public const string DataLoss = "DATA_LOSS";

    /// <summary>A node answered with a status that the operation cannot handle. Metadata:
    /// <c>status</c>.</summary>
    public const string NodeStatus = "NODE_STATUS";

    /// <summary>The log has come to the entry's bound; it is not appended. Send it with a higher one.</summary>
    public const string BoundPassed = "BOUND_PASSED";

    /// <summary>The call's deadline came before a position was granted; the entry is not appended.</summary>
    public const string Deadline = "DEADLINE";

    /// <summary>The call demands another cluster than the front end's. Metadata: <c>cluster_id</c>, the front
    /// end's.</summary>
    public const string WrongCluster = "WRONG_CLUSTER";

    /// <summary>The front end is ending.</summary>
    public const string ShuttingDown = "SHUTTING_DOWN";

    /// <summary>A fault of the front end; its log says more.</summary>
    public const string Internal = "INTERNAL";

    /// <summary>There is no object of that name. Metadata: <c>object</c>.</summary>
    public const string ObjectNotFound = "OBJECT_NOT_FOUND";

    /// <summary>The object is of another type, or belongs to a group with one that the front end does not
    /// know.</summary>
    public const string ObjectType = "OBJECT_TYPE";

    /// <summary>The object's view has ended at this front end; other objects go on. Metadata: <c>object</c>.</summary>
    public const string ObjectStopped = "OBJECT_STOPPED";

    /// <summary>The log's feature level is too low.</summary>
    public const string FeatureLevel = "FEATURE_LEVEL";

    /// <summary>The object refused the operation; nothing was done.</summary>
    public const string Rejected = "REJECTED";

    /// <summary>A write lost to others too often; nothing was done. Metadata: <c>object</c>, <c>key</c>,
    /// <c>position</c>.</summary>
    public const string Conflict = "CONFLICT";

    /// <summary>The outcome of a write is not known. Metadata: <c>request_id</c>, for
    /// <c>corfu.tango.v1.TransactionService/Resolve</c>; without it, read the object.</summary>
    public const string InDoubt = "IN_DOUBT";

    /// <summary>The deadline came near before a write was sent; nothing was done.</summary>
    public const string NotWritten = "NOT_WRITTEN";

    /// <summary>The session has ended, or is of another front end.</summary>
    public const string SessionNotFound = "SESSION_NOT_FOUND";

    /// <summary>The front end does not remember the write, or it is of another caller.</summary>
    public const string RequestNotFound = "REQUEST_NOT_FOUND";

    /// <summary>The write's id was used before.</summary>
    public const string RequestExists = "REQUEST_EXISTS";

    /// <summary>The front end does not keep the list of the page token: begin again.</summary>
    public const string PageExpired = "PAGE_EXPIRED";

    /// <summary>The answer would be larger than the client takes; nothing was done. Ask for less.</summary>
    public const string AnswerTooLarge = "ANSWER_TOO_LARGE";

    /// <summary>The front end's options do not allow it; the message names the option.</summary>
    public const string NotAllowed = "NOT_ALLOWED";

    /// <summary>The caller lacks a right; nothing was done. Metadata: <c>policy</c> and, for what is read or written,
    /// <c>resource</c>.</summary>
    public const string Denied = "DENIED";

    /// <summary>The cluster is not in a state in which it can be changed so; the message says what to do.</summary>
    public const string OperationRefused = "OPERATION_REFUSED";
}
