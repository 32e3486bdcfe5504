using System.Threading.Channels;
using Corfu.Etcd.Serving;
using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Watching;

/// <summary>
/// A stream with any number of watches. Each watch has a task that puts its answers in one queue, which one writer
/// sends: an answer of a watch never overtakes an earlier one, and a client that does not read holds its watches.
/// </summary>
internal sealed class WatchStream(ServedStore served, IServerStreamWriter<WatchResponse> responses) : IAsyncDisposable
{
    // Answers of no watch have it.
    private const long NoWatch = -1;

    // Items are the parts of an answer: no other answer stands between them, else Go's clients lose it.
    private const int MostQueued = 64;

    // An answer of a watch that takes parts begins another one here. Go's clients take 2 MiB by default.
    private const int FragmentBytes = 1 << 20;

    // No further revision goes into an answer that has so much, or of which so many were looked at.
    private const int FullBytes = 64 << 10;
    private const int MostRevisions = 1_000;

    private readonly Channel<WatchResponse[]> _queue = Channel.CreateBounded<WatchResponse[]>(MostQueued);
    private readonly CancellationTokenSource _stop = new();
    private readonly System.Threading.Lock _gate = new();

    // Guarded by _gate.
    private readonly SortedDictionary<long, RunningWatch> _watches = [];

    // Used by the reader of requests alone.
    private long _next;

    /// <summary>Serves the stream until the client ends it. A client that has no further request still hears its
    /// watches, as with etcd.</summary>
    public async Task RunAsync(IAsyncStreamReader<WatchRequest> requests, CancellationToken cancellationToken)
    {
        using var _ = cancellationToken.Register(_stop.Cancel);
        var writing = WriteAsync(_stop.Token);
        var ticking = TickAsync(_stop.Token);
        var reading = ReadAsync(requests, _stop.Token);
        try
        {
            await await Task.WhenAny(writing, reading).ConfigureAwait(false);
            await writing.ConfigureAwait(false);
        }
        finally
        {
            await _stop.CancelAsync().ConfigureAwait(false);
            _queue.Writer.TryComplete();
            await Task.WhenAll(writing, ticking, reading).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <summary>Ends the watches.</summary>
    public async ValueTask DisposeAsync()
    {
        RunningWatch[] left;
        lock (_gate) left = [.. _watches.Values];
        foreach (var watch in left) await EndAsync(watch).ConfigureAwait(false);
        _stop.Dispose();
    }

    private async Task WriteAsync(CancellationToken cancellationToken)
    {
        await foreach (var parts in _queue.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
        {
            foreach (var part in parts) await responses.WriteAsync(part, cancellationToken).ConfigureAwait(false);
        }
    }

    private async Task ReadAsync(IAsyncStreamReader<WatchRequest> requests, CancellationToken cancellationToken)
    {
        while (await requests.MoveNext(cancellationToken).ConfigureAwait(false))
        {
            var request = requests.Current;
            switch (request.RequestUnionCase)
            {
                case WatchRequest.RequestUnionOneofCase.CreateRequest:
                    await CreateAsync(request.CreateRequest, cancellationToken).ConfigureAwait(false);
                    break;
                case WatchRequest.RequestUnionOneofCase.CancelRequest:
                    await CancelAsync(request.CancelRequest.WatchId, cancellationToken).ConfigureAwait(false);
                    break;
                case WatchRequest.RequestUnionOneofCase.ProgressRequest:
                    // Further requests wait: else a client that does not read has any number of answers made.
                    await TellProgressAsync(cancellationToken).ConfigureAwait(false);
                    break;
            }
        }
    }

    private async Task CreateAsync(WatchCreateRequest request, CancellationToken cancellationToken)
    {
        var newest = await served.ReadRevisionAsync(cancellationToken).ConfigureAwait(false);
        var answer = new WatchResponse { Header = served.Header(newest), WatchId = NoWatch, Created = true };
        if (FaultOf(request) is { } fault)
        {
            (answer.Canceled, answer.CancelReason) = (true, fault);
            await _queue.Writer.WriteAsync([answer], cancellationToken).ConfigureAwait(false);
            return;
        }

        // The least key is a zero byte.
        var key = request.Key.IsEmpty ? Google.Protobuf.ByteString.CopyFrom(0) : request.Key;
        var from = request.StartRevision > 0 ? request.StartRevision : newest + 1;
        var watch = new RunningWatch(
            request.WatchId == 0 ? NextId() : request.WatchId, request, Ranges.Of(key, request.RangeEnd), from);
        lock (_gate) _watches.Add(watch.Id, watch);
        EtcdTelemetry.OnWatches(1);
        answer.WatchId = watch.Id;
        await _queue.Writer.WriteAsync([answer], cancellationToken).ConfigureAwait(false);
        watch.Pump = LoopContext.Pool.RunAsync(() => PumpAsync(watch));
    }

    private string? FaultOf(WatchCreateRequest request)
    {
        if (request.RangeEnd.Length > 0 && !(request.RangeEnd.Length == 1 && request.RangeEnd[0] == 0)
            && request.Key.Span.SequenceCompareTo(request.RangeEnd.Span) >= 0)
            return "mvcc: watcher range is empty";
        lock (_gate)
        {
            if (request.WatchId != 0 && _watches.ContainsKey(request.WatchId))
                return "mvcc: duplicate watch ID provided on the WatchStream";
            return _watches.Count >= served.Limits.MaxWatchesPerStream ? "etcdserver: too many watches" : null;
        }
    }

    private long NextId()
    {
        lock (_gate)
        {
            while (_watches.ContainsKey(_next)) _next++;
            return _next++;
        }
    }

    private async Task CancelAsync(long id, CancellationToken cancellationToken)
    {
        RunningWatch? watch;
        lock (_gate) _watches.TryGetValue(id, out watch);
        if (watch is null || !await EndAsync(watch).ConfigureAwait(false)) return;
        await _queue.Writer.WriteAsync(
            [new WatchResponse { Header = served.Header(), WatchId = id, Canceled = true }], cancellationToken)
            .ConfigureAwait(false);
    }

    /// <summary>After it nothing of the watch comes into the queue.</summary>
    /// <returns>False: it has ended by itself, and its client has its answer.</returns>
    private async Task<bool> EndAsync(RunningWatch watch)
    {
        watch.Stop();
        await watch.Pump.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return Forget(watch);
    }

    private bool Forget(RunningWatch watch)
    {
        lock (_gate)
        {
            if (!_watches.Remove(watch.Id)) return false;
        }

        EtcdTelemetry.OnWatches(-1);
        watch.End();
        return true;
    }

    private async Task PumpAsync(RunningWatch watch)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(watch.Stopping, _stop.Token);
        try
        {
            var options = new WatchOptions { Previous = watch.WantsPrevious, Requests = watch.Requests };
            await TellAsync(watch, served.Store.WatchAsync(watch.Range, watch.From, options), stop.Token)
                .ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The watch is cancelled, or its stream ends.
        }
        catch (StoreCompactedException e)
        {
            var answer = new WatchResponse
            {
                // Etcd's has no revision.
                Header = served.Header(0),
                WatchId = watch.Id,
                Canceled = true,
                CompactRevision = e.Oldest,
            };
            await _queue.Writer.WriteAsync([answer], _stop.Token)
                .AsTask().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            // Behind it: progress that is told before would promise what the watch has not heard.
            Forget(watch);
        }
        catch (Exception e)
        {
            // The stream ends with the error, and its client begins another one where it was.
            _queue.Writer.TryComplete(e);
        }
    }

    // As with etcd, a watch that is behind tells many revisions in one answer: all that are at hand.
    private async Task TellAsync(
        RunningWatch watch, IAsyncEnumerable<StoreChanges> changes, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await using var told = changes.GetAsyncEnumerator(stop.Token);
        var next = told.MoveNextAsync().AsTask();
        try
        {
            var (answer, bytes, parts, looked) = (new WatchResponse(), 0, new List<WatchResponse>(), 0);
            while (await next.ConfigureAwait(false))
            {
                var revision = told.Current.Revision;
                foreach (var one in watch.EventsOf(told.Current))
                {
                    var size = one.CalculateSize();
                    if (watch.Fragments && bytes > 0 && bytes + size > FragmentBytes)
                    {
                        answer.Fragment = true;
                        parts.Add(answer);
                        (answer, bytes) = (new WatchResponse(), 0);
                    }

                    answer.Events.Add(one);
                    bytes += size;
                }

                next = told.MoveNextAsync().AsTask();
                if (next.IsCompletedSuccessfully && parts.Count == 0 && ++looked < MostRevisions && bytes < FullBytes)
                    continue;
                stop.Token.ThrowIfCancellationRequested();
                looked = 0;
                if (answer.Events.Count > 0 || watch.IsNoticeDue)
                {
                    parts.Add(answer);
                    foreach (var part in parts) (part.Header, part.WatchId) = (served.Header(revision), watch.Id);
                    watch.IsNoticeDue = false;
                    watch.ToldLately |= answer.Events.Count > 0;
                    EtcdTelemetry.OnEvents(parts.Sum(static part => part.Events.Count));
                    await _queue.Writer.WriteAsync([.. parts], stop.Token).ConfigureAwait(false);
                    (answer, bytes, parts) = (new WatchResponse(), 0, []);
                }

                watch.HasTold(revision);
            }
        }
        finally
        {
            // An enumeration cannot be disposed of within a step.
            await stop.CancelAsync().ConfigureAwait(false);
            await ((Task)next).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <summary>Answers when the queue has all that any watch is to tell up to the newest revision.</summary>
    private async Task TellProgressAsync(CancellationToken cancellationToken)
    {
        var newest = await served.ReadRevisionAsync(cancellationToken).ConfigureAwait(false);
        RunningWatch[] watches;
        lock (_gate) watches = [.. _watches.Values];
        await Task.WhenAll(watches.Select(watch => watch.WaitForAsync(newest))).WaitAsync(cancellationToken)
            .ConfigureAwait(false);
        await _queue.Writer.WriteAsync(
            [new WatchResponse { Header = served.Header(newest), WatchId = NoWatch }], cancellationToken)
            .ConfigureAwait(false);
    }

    private async Task TickAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(served.Limits.ProgressEvery);
        while (await timer.WaitForNextTickAsync(cancellationToken).ConfigureAwait(false))
        {
            RunningWatch[] watches;
            lock (_gate) watches = [.. _watches.Values.Where(static watch => watch.WantsProgress)];
            // The watch's own task tells the notice: it alone knows that nothing before is missing.
            foreach (var watch in watches)
            {
                if (!watch.ToldLately)
                {
                    watch.IsNoticeDue = true;
                    watch.Requests.Ask(served.Store.Revision);
                }

                watch.ToldLately = false;
            }
        }
    }
}
