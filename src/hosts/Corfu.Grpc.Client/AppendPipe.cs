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
/// 2. Waiting appends are sent, several entries in a message.
/// 3. When the call breaks, an append that was sent and has no result is lost until it is resolved. An append that was
/// not sent, or was refused for the front end's sake, goes over the next call.
/// </remarks>
internal sealed class AppendPipe(FrontEnds frontEnds, GrpcLogOptions options, CancellationToken closed)
{
    // Bounded by the appends in flight.
    private readonly Channel<PendingAppend> _waiting =
        Channel.CreateUnbounded<PendingAppend>(new UnboundedChannelOptions { SingleReader = true });

    private Task? _running;

    // Entries go over it; null between two calls.
    private volatile AppendCall? _current;

    public ChannelReader<PendingAppend> Waiting => _waiting.Reader;

    public void Start() => _running = LoopContext.Pool.RunAsync(RunAsync);

    public void Add(PendingAppend append)
    {
        if (!_waiting.Writer.TryWrite(append)) append.TrySetException(Closed());
    }

    /// <summary>Another call is opened, and the one in use takes no further entries.</summary>
    public void Renew() => _current?.Leave();

    /// <summary>The tail, as the front end in use tells it.</summary>
    public Task<LogPosition> TailAsync(CancellationToken cancellationToken) =>
        TailAsync(frontEnds.Current.Client, cancellationToken);

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
        var ending = new List<Task>();
        while (!closed.IsCancellationRequested)
        {
            try
            {
                await _waiting.Reader.WaitToReadAsync(closed);

                // 1.
                if (await OpenAsync() is not { } opened) continue;

                // 2., 3.
                _current = opened.Call;
                await opened.Call.SendAllAsync();
                _current = null;
                if (opened.Call.IsLeft) frontEnds.Leave(opened.Number);
                ending.RemoveAll(static end => end.IsCompletedSuccessfully);
                ending.Add(EndAsync(opened.Call));
            }
            catch (OperationCanceledException) when (closed.IsCancellationRequested)
            {
                // The log is disposed.
            }
            catch (Exception e)
            {
                // Nothing is left waiting for a loop that has ended.
                Refuse(new LogUnavailableException($"An append was not sent: {e.Message}", e));
            }
        }

        await Task.WhenAll(ending);
    }

    private static async Task EndAsync(AppendCall call)
    {
        using (call) await call.EndAsync();
    }

    /// <summary>Null when no front end has accepted a call in time: what waited until now was refused.</summary>
    private async Task<(AppendCall Call, int Number)?> OpenAsync()
    {
        var began = TimeProvider.System.GetTimestamp();
        for (var failures = 1; ; failures++)
        {
            var (client, number) = frontEnds.Current;
            AsyncDuplexStreamingCall<AppendManyRequest, AppendManyResponse>? call = null;
            try
            {
                var tail = await TailAsync(client, closed);
                call = client.AppendMany(frontEnds.Headers, cancellationToken: closed);
                var headers = await call.ResponseHeadersAsync;
                if (headers.Get(FrontEndHeaders.Accepted) is not null)
                    return (new AppendCall(call, tail, this, options, closed), number);
                // The call was refused: a read gets the reason.
                await call.ResponseStream.MoveNext(closed);
                throw new RpcException(new Status(StatusCode.Internal, "The server is no front end of a log."));
            }
            catch (RpcException e)
            {
                call?.Dispose();
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

    private async Task<LogPosition> TailAsync(LogService.LogServiceClient client, CancellationToken cancellationToken)
    {
        var deadline = TimeProvider.System.GetUtcNow().UtcDateTime + options.OperationTimeout;
        var check = await client.CheckAsync(
            new CheckRequest(), new CallOptions(frontEnds.Headers, deadline, cancellationToken));
        return Messages.PositionOf(check.Tail);
    }

    private void Refuse(Exception why)
    {
        while (_waiting.Reader.TryRead(out var append)) append.RefuseUnsent(why);
    }
}
