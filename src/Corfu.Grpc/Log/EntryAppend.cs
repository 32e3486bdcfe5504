using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;

namespace Corfu.Grpc;

/// <summary>One append of either kind.</summary>
internal static class EntryAppend
{
    public static ValueTask<Client.AppendResult> RunAsync(
        ICorfuLog log, NewEntry entry, CancellationToken cancellationToken)
    {
        var streams = LogMessages.StreamsOf(entry.StreamIds, entry.StreamNames);
        return entry.ToObjects
            ? log.AppendToObjectsAsync(entry.Payload.Memory, streams, cancellationToken)
            : log.AppendAsync(entry.Payload.Memory, streams, cancellationToken);
    }

    /// <summary>Whether an append that threw this is certainly not in the log.</summary>
    public static bool IsRefusal(Exception e) => e
        is RequestException or EntryTooLargeException or StreamRangeException or LogOverloadedException
        or LogUnavailableException or LogIsMirrorException or OperationCanceledException or ObjectDisposedException
        or CorfuStatusException { Status: Corfu.Protocol.Status.NoSpace };
}

/// <summary>Ends an append a moment before its call's deadline, so that the outcome still reaches the client.</summary>
internal sealed class AppendLimit : IDisposable
{
    private readonly CancellationTokenSource? _near;
    private readonly CancellationTokenSource? _either;

    private AppendLimit(CancellationToken call) => Token = call;

    private AppendLimit(CancellationToken call, TimeSpan left, TimeProvider time)
    {
        _near = new CancellationTokenSource(left, time);
        _either = CancellationTokenSource.CreateLinkedTokenSource(call, _near.Token);
        Token = _either.Token;
    }

    public CancellationToken Token { get; }

    public static AppendLimit Of(ServerCallContext context, TimeSpan margin, TimeProvider time)
    {
        if (context.Deadline == DateTime.MaxValue) return new AppendLimit(context.CancellationToken);
        var left = context.Deadline - time.GetUtcNow().UtcDateTime;
        if (left <= TimeSpan.Zero) return new AppendLimit(context.CancellationToken);
        var fifth = left / 5;
        return new AppendLimit(context.CancellationToken, left - (margin < fifth ? margin : fifth), time);
    }

    public void Dispose()
    {
        _either?.Dispose();
        _near?.Dispose();
    }
}
