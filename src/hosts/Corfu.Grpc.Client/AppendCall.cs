using System.Threading.Channels;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;

namespace Corfu.Grpc.Client;

/// <summary>An AppendMany call that a front end has accepted, until it breaks or its front end is left.</summary>
/// <remarks>
/// 1. Each entry is sent with a bound a little above the newest position that is known. The log can therefore tell
/// later, without a clock, whether the entry is there.
/// 2. A refusal that is not about the entry sends it again: past its bound with a new one, by a front end that ends or
/// has lost the cluster over another.
/// 3. After such a front end's first refusal nothing more is sent to it; what it still has under way is waited for.
/// </remarks>
internal sealed class AppendCall(AsyncDuplexStreamingCall<AppendManyRequest, AppendManyResponse> call,
    LogPosition tail, AppendPipe pipe, GrpcLogOptions options, CancellationToken closed) : IDisposable
{
    // A position is burnt for each of these when a lost append is settled in a log where nothing else happens.
    private const int Window = 8192;

    private readonly CancellationTokenSource _sending = CancellationTokenSource.CreateLinkedTokenSource(closed);
    private readonly Lock _gate = new();

    // Guarded by _gate: sent, without a result.
    private readonly Dictionary<ulong, PendingAppend> _open = [];
    private ulong _lastId;

    // Guarded by _gate: a tail, or the position of an acknowledged entry. Null: to be asked for.
    private LogPosition? _from = tail;

    private Task? _reading;
    private bool _isLeft;

    /// <summary>The front end is better left for another.</summary>
    public bool IsLeft => Volatile.Read(ref _isLeft);

    /// <summary>Ends when nothing more is to be sent over this call.</summary>
    public async Task SendAllAsync()
    {
        _reading = ReadAsync();
        try
        {
            while (await pipe.Waiting.WaitToReadAsync(_sending.Token)) await SendAsync();
        }
        catch (Exception e) when (e is OperationCanceledException or RpcException or InvalidOperationException)
        {
            // The call broke, its front end is left, or the log is disposed. The end of the call settles the appends
            // sent.
        }
    }

    /// <summary>Waits for what is under way where the front end is left in good order; otherwise it is lost.</summary>
    public async Task EndAsync()
    {
        try
        {
            if (IsLeft) await call.RequestStream.CompleteAsync();
            else call.Dispose();
            await using (closed.UnsafeRegister(static state => ((IDisposable)state!).Dispose(), call))
                await _reading!;
        }
        catch (Exception e) when (e is RpcException or InvalidOperationException)
        {
            // Broken.
        }

        call.Dispose();
        await _reading!;
        lock (_gate)
        {
            foreach (var append in _open.Values) append.Lose();
            _open.Clear();
        }
    }

    /// <summary>Nothing more is sent over this call; what is under way gets its results.</summary>
    public void Leave()
    {
        Volatile.Write(ref _isLeft, true);
        try
        {
            _sending.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // The call has ended.
        }
    }

    public void Dispose() => _sending.Dispose();

    private async Task SendAsync()
    {
        var from = await FromAsync();
        var request = new AppendManyRequest();
        var sent = new List<PendingAppend>();
        var bytes = 0L;
        while (sent.Count < options.MaxBatchEntries && pipe.Waiting.TryPeek(out var next)
            && (sent.Count == 0 || bytes + next.Size <= options.MaxBatchBytes) && pipe.Waiting.TryRead(out var append))
        {
            if (!append.TrySend(from, from + Window)) continue;
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
            foreach (var append in sent)
            {
                if (append.WasSent()) pipe.Add(append);
            }
        }
    }

    private async ValueTask<LogPosition> FromAsync()
    {
        lock (_gate)
        {
            if (_from is { } known) return known;
        }

        var from = await pipe.TailAsync(_sending.Token);
        lock (_gate) _from ??= from;
        return from;
    }

    private ulong Register(PendingAppend append)
    {
        lock (_gate)
        {
            _open.Add(++_lastId, append);
            return _lastId;
        }
    }

    private async Task ReadAsync()
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
            // The call is broken: its end settles the appends sent.
        }
        finally
        {
            await _sending.CancelAsync();
        }
    }

    private void Settle(AppendManyResponse.Types.Item item)
    {
        PendingAppend? append;
        var result = Messages.ResultOf(item.Result, default);
        lock (_gate)
        {
            if (result.IsAppended && (_from is null || result.Position > _from)) _from = result.Position;
            if (!_open.Remove(item.Id, out append)) return;
        }

        if (item.Result?.Error is { } error)
        {
            if (Errors.IsOfFrontEnd(error)) Leave();
            if (result.Outcome == AppendOutcome.NotAppended)
            {
                Refuse(append, error);
                return;
            }
        }

        if (result.Outcome == AppendOutcome.Unknown && result.Position.Epoch == Epoch.None) append.Lose();
        else append.TrySetResult(result with { Origin = append.Origin });
    }

    private void Refuse(PendingAppend append, Protocol.V1.EntryError error)
    {
        if (!Errors.MayPass(error) || append.Age >= options.OperationTimeout)
        {
            append.TrySetException(Errors.ToException(error));
            return;
        }

        if (!Errors.IsOfFrontEnd(error))
        {
            lock (_gate) _from = null;
        }

        if (append.TryTakeBack()) pipe.Add(append);
    }
}
