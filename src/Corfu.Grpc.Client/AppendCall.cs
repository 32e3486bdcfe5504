using System.Threading.Channels;
using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;

namespace Corfu.Grpc.Client;

/// <summary>One AppendMany call that a front end has accepted, until it breaks.</summary>
internal sealed class AppendCall(AsyncDuplexStreamingCall<AppendManyRequest, AppendManyResponse> call,
    ChannelReader<PendingAppend> waiting, GrpcLogOptions options)
{
    private readonly Lock _gate = new();

    // Guarded by _gate: sent, without a result.
    private readonly Dictionary<ulong, PendingAppend> _open = [];
    private ulong _lastId;

    public async Task RunAsync(CancellationToken closed)
    {
        using var broken = CancellationTokenSource.CreateLinkedTokenSource(closed);
        var reading = ReadAsync(broken);
        try
        {
            while (await waiting.WaitToReadAsync(broken.Token)) await SendAsync();
        }
        catch (Exception e) when (e is OperationCanceledException or RpcException or InvalidOperationException)
        {
            // The call broke, or the log is disposed. What was sent is settled below.
        }

        call.Dispose();
        try
        {
            await reading;
        }
        finally
        {
            lock (_gate)
            {
                foreach (var append in _open.Values) append.TrySetResult(Messages.NoAnswer);
                _open.Clear();
            }
        }
    }

    private async Task SendAsync()
    {
        var request = new AppendManyRequest();
        var sent = new List<PendingAppend>();
        var bytes = 0L;
        while (sent.Count < options.MaxBatchEntries && waiting.TryPeek(out var next)
            && (sent.Count == 0 || bytes + next.Size <= options.MaxBatchBytes) && waiting.TryRead(out var append))
        {
            if (!append.TrySend()) continue;
            sent.Add(append);
            bytes += append.Size;
            request.Items.Add(new AppendManyRequest.Types.Item { Id = Register(append), Entry = append.ToMessage() });
        }

        if (sent.Count == 0) return;
        try
        {
            await call.RequestStream.WriteAsync(request);
        }
        finally
        {
            foreach (var append in sent) append.WasSent();
        }
    }

    private ulong Register(PendingAppend append)
    {
        lock (_gate)
        {
            _open.Add(++_lastId, append);
            return _lastId;
        }
    }

    private async Task ReadAsync(CancellationTokenSource broken)
    {
        try
        {
            while (await call.ResponseStream.MoveNext(CancellationToken.None))
            {
                foreach (var item in call.ResponseStream.Current.Items) Settle(item);
            }
        }
        catch (Exception e) when (e is RpcException or OperationCanceledException or ObjectDisposedException)
        {
            // Broken. What it was about is settled by the other side.
        }
        finally
        {
            await broken.CancelAsync();
        }
    }

    private void Settle(AppendManyResponse.Types.Item item)
    {
        PendingAppend? append;
        lock (_gate)
        {
            if (!_open.Remove(item.Id, out append)) return;
        }

        if (item is { Error: { } error, Result.Outcome: Outcome.NotAppended })
            append.TrySetException(Errors.ToException(error));
        else append.TrySetResult(Messages.ResultOf(item.Result));
    }
}
