using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using Tango;

namespace Corfu.Grpc;

/// <summary>An append of either kind.</summary>
internal static class EntryAppend
{
    public static ValueTask<Corfu.AppendResult> RunAsync(
        ICorfuLog log, NewEntry entry, CorfuGrpcOptions options, CancellationToken cancellationToken)
    {
        var streams = LogMessages.StreamsOf(entry.StreamIds, entry.StreamNames);
        if (entry.ToObjects) RequireObjectEntry(entry, streams, options);
        return RunAsync(log, entry, streams, LogMessages.TermsOf(entry), cancellationToken);
    }

    private static async ValueTask<Corfu.AppendResult> RunAsync(ICorfuLog log, NewEntry entry,
        ImmutableArray<StreamId> streams, AppendTerms terms, CancellationToken cancellationToken)
    {
        var payload = entry.Payload.Memory;
        if (terms == default)
            return entry.ToObjects
                ? await log.AppendToObjectsAsync(payload, streams, cancellationToken)
                : await log.AppendAsync(payload, streams, cancellationToken);
        if (log is not IDelegatedLog delegated)
            throw new RequestException("origin, below_offset: this front end's log takes none.");
        var result = entry.ToObjects
            ? await delegated.AppendToObjectsAsync(payload, streams, terms, cancellationToken)
            : await delegated.AppendAsync(payload, streams, terms, cancellationToken);
        return result.Outcome == AppendOutcome.NotAppended
            ? throw new BoundPassedException(entry.BelowOffset)
            : result;
    }

    // An entry that an object cannot read stops the object, in every process and for good (R23).
    private static void RequireObjectEntry(
        NewEntry entry, ImmutableArray<StreamId> streams, CorfuGrpcOptions options)
    {
        if (options is { AllowObjectAppends: false, RequireRights: false })
            throw new NotAllowedException("appends to objects' streams", nameof(options.AllowObjectAppends));
        foreach (var stream in streams)
        {
            if (stream.Value < StreamId.FirstObjectValue)
                throw new RequestException($"stream_ids: {stream} is a stream of the system's.");
        }

        if (streams.IsEmpty) throw new RequestException("stream_ids: an entry to objects names none.");
        if (!TangoEntry.IsWellFormed(entry.Payload.Memory))
            throw new RequestException("payload: no entry of Tango's, which an object's stream must hold alone.");
    }

    /// <summary>Whether an append that threw this is certainly not in the log.</summary>
    public static bool IsRefusal(Exception e) => e
        is RequestException or NotAllowedException or AccessDeniedException or FrontEndLimitException
        or BoundPassedException or EntryTooLargeException or StreamRangeException or LogOverloadedException
        or LogUnavailableException or LogIsMirrorException
        or OperationCanceledException or ObjectDisposedException
        or CorfuStatusException { Status: Corfu.Protocol.Status.NoSpace };
}

/// <summary>The entry's bound keeps it out of the log.</summary>
internal sealed class BoundPassedException(long below)
    : Exception($"The log has come to {below}, below which the entry was to stand; it is not appended.");

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
