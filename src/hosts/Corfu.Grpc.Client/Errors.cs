using System.Globalization;
using Corfu.Client;
using Corfu.Grpc.Protocol;
using Google.Rpc;
using Grpc.Core;
using EntryError = Corfu.Grpc.Protocol.V1.EntryError;

namespace Corfu.Grpc.Client;

/// <summary>From the front end's errors back to the exceptions of the log's own client.</summary>
internal static class Errors
{
    /// <summary>Whether another front end, or the same one later, may do better.</summary>
    public static bool MayPass(RpcException e) => InfoOf(e)?.Reason switch
    {
        ErrorReason.Unavailable or ErrorReason.ClusterNotFound or ErrorReason.ShuttingDown
            or ErrorReason.WrongCluster => true,
        // The connection could not be made, or broke.
        null => e.StatusCode is StatusCode.Unavailable or StatusCode.Internal or StatusCode.Unknown,
        _ => false,
    };

    public static Exception ToException(RpcException e)
    {
        if (InfoOf(e) is { } info) return Of(info.Reason, e.Status.Detail, info.Metadata);
        return e.StatusCode switch
        {
            StatusCode.Cancelled => new OperationCanceledException(e.Status.Detail, e),
            StatusCode.Unauthenticated or StatusCode.PermissionDenied => new CorfuDeniedException(
                $"The front end refused the call ({e.Status.Detail}): it needs a certificate or other credentials"),
            StatusCode.ResourceExhausted => new LogOverloadedException(e.Status.Detail),
            _ => new LogUnavailableException($"The front end did not answer: {e.Status.Detail}", e),
        };
    }

    /// <summary>Whether an append that was refused so is sent again, perhaps over another front end.</summary>
    public static bool MayPass(EntryError error) => error.Reason is ErrorReason.BoundPassed || IsOfFrontEnd(error);

    /// <summary>Whether the front end is better left for another.</summary>
    public static bool IsOfFrontEnd(EntryError error) => error.Reason
        is ErrorReason.Unavailable or ErrorReason.ClusterNotFound or ErrorReason.ShuttingDown;

    public static Exception ToException(EntryError error) => Of(error.Reason, error.Message, error.Metadata);

    private static Exception Of(string reason, string message, IDictionary<string, string> metadata) => reason switch
    {
        ErrorReason.Trimmed => new LogTrimmedException(SubjectOf(message), PositionOf(metadata)),
        ErrorReason.NotGranted => new PositionNotGrantedException(message),
        ErrorReason.InvalidRequest => new ArgumentException(message),
        ErrorReason.EntryTooLarge => new EntryTooLargeException(SubjectOf(message)),
        ErrorReason.StreamRange when metadata.TryGetValue("stream", out var text)
            && ulong.TryParse(text, CultureInfo.InvariantCulture, out var stream) =>
            new StreamRangeException(new StreamId(stream)),
        ErrorReason.Overloaded => new LogOverloadedException(message),
        ErrorReason.Denied => new CorfuDeniedException(message.TrimEnd('.')),
        ErrorReason.NotAllowed => new CorfuException(message),
        ErrorReason.NoSpace => new CorfuStatusException(Corfu.Protocol.Status.NoSpace, message),
        ErrorReason.Mirror => new LogIsMirrorException(SubjectOf(message)),
        ErrorReason.Corrupt => new PageCorruptException(SubjectOf(message), PositionOf(metadata)),
        ErrorReason.DataLoss when PositionOf(metadata) is { } position => new DataLossException(position),
        ErrorReason.NodeStatus when metadata.TryGetValue("status", out var text)
            && Enum.TryParse<Corfu.Protocol.Status>(text, out var status) =>
            new CorfuStatusException(status, message),
        _ => new LogUnavailableException(message),
    };

    private static LogPosition? PositionOf(IDictionary<string, string> metadata) =>
        metadata.TryGetValue("position", out var text)
            && long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var offset)
            ? new LogPosition(offset)
            : null;

    private static ErrorInfo? InfoOf(RpcException e) =>
        e.GetRpcStatus()?.GetDetail<ErrorInfo>() is { Domain: ErrorReason.Domain } info ? info : null;

    // The exceptions put their own words behind what they are about.
    private static string SubjectOf(string message) =>
        message.LastIndexOf(": ", StringComparison.Ordinal) is var end and > 0 ? message[..end] : message;
}
