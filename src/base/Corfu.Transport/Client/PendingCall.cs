using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading.Tasks.Sources;

namespace Corfu.Transport;

/// <summary>A request without an answer yet. The thread that removes it from the connection's table completes it,
/// exactly once.</summary>
internal abstract class PendingCall
{
    public Request Request { get; protected set; } = null!;

    public uint Correlation { get; set; }

    /// <summary>In sweeps of the transport, so that no clock is read per request.</summary>
    public long Deadline { get; set; }

    /// <summary>A time stamp, where calls are measured; else 0.</summary>
    public long Began { get; set; }

    /// <summary>The call's span; null where its caller records nothing.</summary>
    public Activity? Span { get; set; }

    /// <exception cref="MalformedDataException">The answer is damaged, and the call not completed.</exception>
    public abstract void Complete(FrameHeader header, ReadOnlyMemory<byte> body, ushort version);

    public abstract void Fail(Exception error);
}

/// <summary>A pooled promise: reused once its result was taken.</summary>
internal sealed class PendingCall<TResponse> : PendingCall, IValueTaskSource<TResponse>
    where TResponse : Response
{
    private const int MaxPooled = 4096;

    private static readonly ConcurrentQueue<PendingCall<TResponse>> Pool = new();
    private static int _pooled;

    private ManualResetValueTaskSourceCore<TResponse> _core;
    private ClientConnection? _connection;
    private CancellationTokenRegistration _cancellation;
    private CancellationToken _token;

    public static PendingCall<TResponse> Rent(Request<TResponse> request, bool inlineContinuations)
    {
        if (Pool.TryDequeue(out var call)) Interlocked.Decrement(ref _pooled);
        else call = new PendingCall<TResponse>();
        call._core.RunContinuationsAsynchronously = !(inlineContinuations || request.AnswerIsTakenInline());
        call.Request = request;
        return call;
    }

    public ValueTask<TResponse> AsValueTask() => new(this, _core.Version);

    public void CancelWith(ClientConnection connection, CancellationToken token)
    {
        if (!token.CanBeCanceled) return;
        _connection = connection;
        _token = token;
        _cancellation = token.UnsafeRegister(
            static state =>
            {
                var call = (PendingCall<TResponse>)state!;
                if (call._connection!.TryTake(call)) call.Fail(new OperationCanceledException(call._token));
            },
            this);
    }

    public override void Complete(FrameHeader header, ReadOnlyMemory<byte> body, ushort version)
    {
        var response = MessageCodec.ReadResponse(Request, header, body, version) as TResponse
            ?? throw new MalformedDataException($"A {header.Opcode} was answered by another message.");
        _core.SetResult(response);
    }

    public override void Fail(Exception error)
    {
        // The thread that ends a connection, or a sweep, fails many calls.
        if (Request.AnswerIsTakenInline()) _core.RunContinuationsAsynchronously = true;
        _core.SetException(error);
    }

    TResponse IValueTaskSource<TResponse>.GetResult(short token)
    {
        // Too early: the core throws, and the promise stays in use.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending) return _core.GetResult(token);

        // Waits for a running cancellation callback: it must not find this object after it was reused.
        _cancellation.Dispose();
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            Recycle();
        }
    }

    ValueTaskSourceStatus IValueTaskSource<TResponse>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<TResponse>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    /// <summary>Makes the call ready for another request. The result was taken, or the call was never handed
    /// out.</summary>
    public void Recycle()
    {
        _core.Reset();
        _cancellation = default;
        _connection = null;
        _token = default;
        Request = null!;
        Began = 0;
        // Not sent, or cancelled.
        if (Span is { IsStopped: false } span) TransportTelemetry.End(span, "none");
        Span = null;
        if (Interlocked.Increment(ref _pooled) <= MaxPooled) Pool.Enqueue(this);
        else Interlocked.Decrement(ref _pooled);
    }
}
