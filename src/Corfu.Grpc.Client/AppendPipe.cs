using System.Threading.Channels;
using Corfu.Client;
using Corfu.Grpc.Protocol;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using Status = Grpc.Core.Status;

namespace Corfu.Grpc.Client;

/// <summary>Sends appends over one AppendMany call at a time.</summary>
/// <remarks>
/// 1. A call is opened, at the first front end that accepts one. Nothing is sent before it has.
/// 2. What waits is sent, several entries in a message.
/// 3. When the call breaks, what was sent and has no result is unknown. What was not sent goes over the next call.
/// </remarks>
internal sealed class AppendPipe(FrontEnds frontEnds, GrpcLogOptions options, CancellationToken closed)
{
    // Bounded by the appends in flight.
    private readonly Channel<PendingAppend> _waiting =
        Channel.CreateUnbounded<PendingAppend>(new UnboundedChannelOptions { SingleReader = true });

    private Task? _running;

    public void Start() => _running = LoopContext.Pool.RunAsync(RunAsync);

    public void Add(PendingAppend append)
    {
        if (!_waiting.Writer.TryWrite(append)) append.TrySetException(Closed());
    }

    /// <summary>After <c>closed</c> was cancelled.</summary>
    public async ValueTask CloseAsync()
    {
        _waiting.Writer.TryComplete();
        if (_running is not null) await _running;
        Refuse(Closed());
    }

    private static ObjectDisposedException Closed() => new(nameof(GrpcCorfuLog));

    private async Task RunAsync()
    {
        try
        {
            while (await _waiting.Reader.WaitToReadAsync(closed))
            {
                // 1.
                if (await OpenAsync() is not { } call) continue;

                // 2., 3.
                using (call) await new AppendCall(call, _waiting.Reader, options).RunAsync(closed);
            }
        }
        catch (OperationCanceledException)
        {
            // The log is disposed.
        }
    }

    /// <summary>Null when no front end has accepted a call in time: what waited until now was refused.</summary>
    private async Task<AsyncDuplexStreamingCall<AppendManyRequest, AppendManyResponse>?> OpenAsync()
    {
        var began = TimeProvider.System.GetTimestamp();
        for (var failures = 1; ; failures++)
        {
            var (client, number) = frontEnds.Current;
            var call = client.AppendMany(cancellationToken: closed);
            try
            {
                var headers = await call.ResponseHeadersAsync;
                if (headers.Get(FrontEndHeaders.Accepted) is not null) return call;
                // It was refused: reading says why.
                await call.ResponseStream.MoveNext(closed);
                throw new RpcException(new Status(StatusCode.Internal, "The server is no front end of a log."));
            }
            catch (RpcException e)
            {
                call.Dispose();
                closed.ThrowIfCancellationRequested();
                frontEnds.Leave(number);
                var isLate = TimeProvider.System.GetElapsedTime(began) >= options.OperationTimeout;
                if (!Errors.MayPass(e) || isLate)
                {
                    Refuse(Errors.ToException(e));
                    return null;
                }
            }

            if (failures % frontEnds.Count == 0) await Task.Delay(options.RetryDelay, closed);
        }
    }

    private void Refuse(Exception why)
    {
        while (_waiting.Reader.TryRead(out var append))
        {
            if (append.TrySend()) append.TrySetException(why);
        }
    }
}
