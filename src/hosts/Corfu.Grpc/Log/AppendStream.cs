using System.Runtime.ExceptionServices;
using System.Threading.Channels;
using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;

namespace Corfu.Grpc;

/// <summary>An AppendMany call.</summary>
/// <remarks>
/// 1. A request is read. Each of its entries takes a place in flight, and its bytes of the process's budget, and is
/// appended.
/// 2. Outcomes are collected, and all that are known go out in one response. Their places are free after that, so
/// entries in flight and results that wait are bounded by one number.
/// 3. Once the front end stops, each further entry is refused: its client knows that it is not in the log, and takes
/// another front end. Reading no more would leave entries on their way in doubt.
/// 4. When the client has ended its side and the last result is out, the call ends.
/// </remarks>
internal sealed class AppendStream(ICorfuLog log, CorfuGrpcOptions options, AppendingCaller caller,
    IServerStreamWriter<AppendManyResponse> responses)
{
    private readonly SemaphoreSlim _places = new(options.MaxEntriesInFlight, options.MaxEntriesInFlight);

    // Bounded by _places.
    private readonly Channel<AppendManyResponse.Types.Item> _results =
        Channel.CreateUnbounded<AppendManyResponse.Types.Item>(new UnboundedChannelOptions { SingleReader = true });

    // Entries whose outcome is open, and one for the side that reads. At zero no result follows.
    private int _open = 1;

    /// <param name="stopping">The front end ends: appends under way get their results.</param>
    public async Task RunAsync(IAsyncStreamReader<AppendManyRequest> requests, CancellationToken stopping,
        CancellationToken cancellationToken)
    {
        using var failed = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var writing = WriteAsync(failed);
        ExceptionDispatchInfo? fault = null;
        try
        {
            // 1.
            while (await requests.MoveNext(failed.Token)) await StartAsync(requests.Current, stopping, failed.Token);
        }
        catch (Exception e)
        {
            // Appends under way keep their results, which go out before the error.
            fault = ExceptionDispatchInfo.Capture(e);
        }

        Close();
        await writing;
        fault?.Throw();
    }

    private async ValueTask StartAsync(
        AppendManyRequest request, CancellationToken stopping, CancellationToken cancellationToken)
    {
        caller.Rights.BeginMessage();
        foreach (var item in request.Items)
        {
            await _places.WaitAsync(cancellationToken);
            var refusal = await caller.Rights.RefusalOfAsync(item.Entry);
            var bytes = await caller.TakeAsync(item.Entry?.Payload.Length ?? 0, cancellationToken);
            Interlocked.Increment(ref _open);
            _ = AppendAsync(item, (bytes, refusal), stopping, cancellationToken);
        }
    }

    private async Task AppendAsync(AppendManyRequest.Types.Item item, (IDisposable Bytes, Exception? Refusal) start,
        CancellationToken stopping, CancellationToken cancellationToken)
    {
        var result = new AppendManyResponse.Types.Item { Id = item.Id };
        try
        {
            // 3.
            stopping.ThrowIfCancellationRequested();
            if (start.Refusal is not null) throw start.Refusal;
            if (item.Entry is null) throw new RequestException("items.entry: missing.");
            result.Result = LogMessages.ToMessage(
                await EntryAppend.RunAsync(log, item.Entry, options, cancellationToken));
        }
        catch (Exception e)
        {
            result.Result = new Protocol.Log.V1.AppendResult
            {
                Outcome = EntryAppend.IsRefusal(e) ? Outcome.NotAppended : Outcome.Unknown,
                Error = ErrorTable.ToError(e),
            };
        }
        finally
        {
            start.Bytes.Dispose();
        }

        _results.Writer.TryWrite(result);
        Close();
    }

    private void Close()
    {
        if (Interlocked.Decrement(ref _open) == 0) _results.Writer.Complete();
    }

    // 2., 4.
    private async Task WriteAsync(CancellationTokenSource failed)
    {
        try
        {
            while (await _results.Reader.WaitToReadAsync(CancellationToken.None))
            {
                var response = new AppendManyResponse();
                while (response.Items.Count < options.MaxBatchEntries && _results.Reader.TryRead(out var result))
                    response.Items.Add(result);
                await responses.WriteAsync(response, failed.Token);
                _places.Release(response.Items.Count);
            }
        }
        catch
        {
            // The caller hears no outcomes any more.
            await failed.CancelAsync();
            throw;
        }
    }
}

/// <summary>The caller of an AppendMany call.</summary>
/// <param name="Name">Limits count by it.</param>
internal sealed record AppendingCaller(string Name, EntryAccess Rights, CallerLimits Limits)
{
    /// <summary>Takes bytes of the caller's share; meanwhile the call is not read.</summary>
    public async ValueTask<IDisposable> TakeAsync(long bytes, CancellationToken cancellationToken)
    {
        await Limits.WaitForBytesAsync(Name, bytes, cancellationToken);
        return await Limits.Bytes.TakeAsync(Name, bytes, cancellationToken);
    }
}
