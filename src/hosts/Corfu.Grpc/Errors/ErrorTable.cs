using System.Collections.Concurrent;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Grpc.Protocol;
using Google.Protobuf.WellKnownTypes;
using Google.Rpc;
using Grpc.Core;

namespace Corfu.Grpc;

/// <summary>The one table from exceptions to gRPC errors, for all services. docs/grpc.md shows it.</summary>
internal static partial class ErrorTable
{
    // Hosts of one process may start at once.
    private static readonly ConcurrentDictionary<System.Type, Row> s_rows = new()
    {
        [typeof(RequestException)] = new(StatusCode.InvalidArgument, ErrorReason.InvalidRequest),
        [typeof(NotAllowedException)] = new(StatusCode.PermissionDenied, ErrorReason.NotAllowed),
        [typeof(AccessDeniedException)] = new(StatusCode.PermissionDenied, ErrorReason.Denied, AddRight),
        [typeof(FrontEndLimitException)] = new(StatusCode.ResourceExhausted, ErrorReason.Overloaded, AddLimit),
        [typeof(EntryTooLargeException)] = new(StatusCode.InvalidArgument, ErrorReason.EntryTooLarge),
        [typeof(StreamRangeException)] = new(StatusCode.InvalidArgument, ErrorReason.StreamRange,
            static (e, metadata) => metadata.Add("stream", ((StreamRangeException)e).Stream.ToString())),
        [typeof(BoundPassedException)] = new(StatusCode.Aborted, ErrorReason.BoundPassed),
        [typeof(DeadlineNearException)] = new(StatusCode.DeadlineExceeded, ErrorReason.Deadline),
        [typeof(WrongClusterException)] = new(StatusCode.FailedPrecondition, ErrorReason.WrongCluster,
            static (e, metadata) => metadata.Add("cluster_id", ((WrongClusterException)e).ClusterId)),
        [typeof(LogTrimmedException)] = new(StatusCode.OutOfRange, ErrorReason.Trimmed,
            static (e, metadata) => AddPosition(metadata, ((LogTrimmedException)e).Position)),
        [typeof(PositionNotGrantedException)] = new(StatusCode.OutOfRange, ErrorReason.NotGranted),
        [typeof(LogOverloadedException)] = new(StatusCode.ResourceExhausted, ErrorReason.Overloaded),
        [typeof(LogUnavailableException)] = new(StatusCode.Unavailable, ErrorReason.Unavailable),
        [typeof(LayoutUnavailableException)] = new(StatusCode.Unavailable, ErrorReason.Unavailable),
        [typeof(TransportException)] = new(StatusCode.Unavailable, ErrorReason.Unavailable),
        [typeof(ClusterNotFoundException)] = new(StatusCode.Unavailable, ErrorReason.ClusterNotFound),
        [typeof(OperationCanceledException)] = new(StatusCode.Unavailable, ErrorReason.ShuttingDown),
        [typeof(ObjectDisposedException)] = new(StatusCode.Unavailable, ErrorReason.ShuttingDown),
        [typeof(LogIsMirrorException)] = new(StatusCode.FailedPrecondition, ErrorReason.Mirror),
        [typeof(PageCorruptException)] = new(StatusCode.DataLoss, ErrorReason.Corrupt,
            static (e, metadata) => AddPosition(metadata, ((PageCorruptException)e).Position)),
        [typeof(DataLossException)] = new(StatusCode.DataLoss, ErrorReason.DataLoss,
            static (e, metadata) => metadata.Add("position", Text(((DataLossException)e).Position))),
        [typeof(CorfuStatusException)] = new(StatusCode.Internal, ErrorReason.NodeStatus,
            static (e, metadata) => metadata.Add("status", ((CorfuStatusException)e).Status.ToString())),
    };

    private static readonly Row s_noSpace = new(StatusCode.ResourceExhausted, ErrorReason.NoSpace);
    private static readonly Row s_unexpected = new(StatusCode.Internal, ErrorReason.Internal);

    /// <summary>Adds rows for further exceptions, before the first call.</summary>
    public static void Add(System.Type exception, StatusCode code, string reason,
        Action<Exception, IDictionary<string, string>>? metadata = null) =>
        s_rows.TryAdd(exception, new Row(code, reason, metadata));

    /// <summary>Whether the exception is a fault of the front end itself, and worth a line in its log.</summary>
    public static bool IsUnexpected(Exception e) => RowOf(e) == s_unexpected;

    public static RpcException ToRpcException(Exception e) => ToStatus(e).ToRpcException();

    public static Google.Rpc.Status ToStatus(Exception e)
    {
        var row = RowOf(e);
        var info = new ErrorInfo { Domain = ErrorReason.Domain, Reason = row.Reason };
        AddMetadata(row, e, info.Metadata);
        return new Google.Rpc.Status
        {
            Code = (int)row.Code,
            Message = MessageOf(row, e),
            Details = { Any.Pack(info) },
        };
    }

    /// <summary>The same for one entry of many.</summary>
    public static Protocol.V1.EntryError ToError(Exception e)
    {
        var row = RowOf(e);
        var error = new Protocol.V1.EntryError
        {
            Code = (int)row.Code,
            Reason = row.Reason,
            Message = MessageOf(row, e),
        };
        AddMetadata(row, e, error.Metadata);
        return error;
    }

    private static void AddMetadata(Row row, Exception e, IDictionary<string, string> metadata)
    {
        if (e is SubscriptionEndedException ended)
        {
            AddPosition(metadata, ended.Due);
            metadata.Add("mark", Text(ended.Mark));
        }
        else row.Metadata?.Invoke(e, metadata);
    }

    private static void AddRight(Exception e, IDictionary<string, string> metadata)
    {
        var demand = ((AccessDeniedException)e).Demand;
        metadata.Add("policy", demand.Policy);
        if (demand.Resource is { } resource) metadata.Add("resource", resource.ToString());
    }

    private static void AddLimit(Exception e, IDictionary<string, string> metadata)
    {
        var reached = (FrontEndLimitException)e;
        metadata.Add("limit", reached.Name);
        if (reached.RetryAfter is { } wait)
            metadata.Add(
                "retry_after_ms",
                Math.Max(1, Math.Ceiling(wait.TotalMilliseconds))
                    .ToString(System.Globalization.CultureInfo.InvariantCulture));
    }

    private static void AddPosition(IDictionary<string, string> metadata, LogPosition? position)
    {
        if (position is { } known) metadata.Add("position", Text(known));
    }

    private static Row RowOf(Exception e)
    {
        if (e is SubscriptionEndedException { InnerException: { } cause }) return RowOf(cause);
        if (e is CorfuStatusException { Status: Corfu.Protocol.Status.NoSpace }) return s_noSpace;
        for (var type = e.GetType(); type is not null; type = type.BaseType)
        {
            if (s_rows.TryGetValue(type, out var row)) return row;
        }

        return s_unexpected;
    }

    // A message for programmers names a parameter; an unexpected exception is for the front end's own log.
    private static string MessageOf(Row row, Exception e) =>
        row == s_unexpected ? "The front end failed; its log says why." : e.Message.Split(" (Parameter", 2)[0];

    private static string Text(LogPosition position) =>
        position.Offset.ToString(System.Globalization.CultureInfo.InvariantCulture);

    private sealed record Row(
        StatusCode Code, string Reason, Action<Exception, IDictionary<string, string>>? Metadata = null);
}

/// <summary>A request that makes no sense. The message names the field.</summary>
internal sealed class RequestException(string message) : Exception(message);

/// <summary>The front end's options keep callers from it.</summary>
internal sealed class NotAllowedException(string what, string option)
    : Exception($"This front end does not allow {what}: its option {option} is off.");

/// <summary>A subscription met an entry that is due and cannot be delivered.</summary>
/// <param name="mark">The first position from which a subscription can go on.</param>
internal sealed class SubscriptionEndedException(CorfuException cause, LogPosition due, LogPosition mark)
    : CorfuException($"{cause.Message} A subscription can go on from {mark.Offset}.", cause)
{
    public LogPosition Due { get; } = due;

    public LogPosition Mark { get; } = mark;
}

/// <summary>The call's deadline came before its entry had a position.</summary>
internal sealed class DeadlineNearException()
    : Exception("No position was granted before the call's deadline; the entry is not appended.");

/// <summary>The call demands another cluster.</summary>
internal sealed class WrongClusterException(string demanded, string own)
    : Exception($"The call demands the cluster {demanded}; this front end serves {own}.")
{
    public string ClusterId { get; } = own;
}
