using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// Checks (Tango 2.2, 5): the sequencer's tail, confirmed or not. A caller shares the next check that starts after its call, so
/// any number of callers costs few messages.
/// </summary>
internal sealed class Checker(ClientCore core, SlowChecker slow, EpochConfirmer? confirmer)
{
    private readonly Lock _gate = new();
    private readonly SharedDelay _silence = new(core, core.Options.SlowCheckDelay);

    // Guarded by _gate. Batches that wait for their start; their callers may still grow.
    private readonly Queue<CheckBatch> _next = new();
    private CheckBatch? _open;
    private int _running;

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        core.ThrowIfClosed();
        return streams.Length <= MessageLimits.MaxItems
            ? CheckPartAsync(streams, cancellationToken)
            : CheckPartsAsync(streams, cancellationToken);
    }

    private async ValueTask<LogCheck> CheckPartAsync(ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.check");
        var batch = Join(streams, out var start);
        if (start is not null) _ = RunAsync(start);
        var tail = cancellationToken.CanBeCanceled ? await batch.Task.WaitOrCancelAsync(cancellationToken) : await batch.Task;
        return batch.Pick(tail, streams);
    }

    /// <summary>More streams than fit into one message. The parts' tails differ; below the lowest, every part is complete.</summary>
    private async ValueTask<LogCheck> CheckPartsAsync(ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        while (true)
        {
            var parts = await Task.WhenAll(streams.Chunk(MessageLimits.MaxItems).Select(c => CheckPartAsync([.. c], cancellationToken).AsTask()));
            var tail = parts[0].Tail;
            foreach (var part in parts) tail = LogPosition.Min(tail, part.Tail);

            // Positions of different epochs do not compare (R10).
            if (Array.TrueForAll(parts, p => p.Tail.Epoch == tail.Epoch)) return new LogCheck(tail, [.. parts.SelectMany(p => p.Streams)]);
        }
    }

    private CheckBatch Join(ImmutableArray<StreamId> streams, out CheckBatch? start)
    {
        lock (_gate)
        {
            if (_open is null || !_open.TryAdd(streams))
            {
                _open = new CheckBatch();
                _open.TryAdd(streams);
                _next.Enqueue(_open);
            }

            var batch = _open;
            start = _running < core.Options.ChecksInFlight ? TakeNext() : null;
            return batch;
        }
    }

    private CheckBatch? TakeNext()
    {
        if (!_next.TryDequeue(out var batch)) return null;
        if (batch == _open) _open = null;
        _running++;
        return batch;
    }

    private async Task RunAsync(CheckBatch? batch)
    {
        while (batch is not null)
        {
            ClientTelemetry.CheckCallers.Add(batch.Callers);
            var began = core.Time.GetTimestamp();
            try
            {
                var running = batch;
                batch.SetResult(await core.RetryAsync("A check", view => TryAsync(view, running.Streams), core.Closed));
                ClientTelemetry.CheckTime.Record(core.Time.GetElapsedTime(began).TotalSeconds);
            }
            catch (Exception e)
            {
                batch.SetException(e);
            }

            lock (_gate)
            {
                _running--;
                batch = TakeNext();
            }
        }
    }

    private async ValueTask<Attempt<TailResponse>> TryAsync(EpochView view, ImmutableArray<StreamId> streams)
    {
        // In parallel: the epoch only has to be confirmed by requests that were sent after the callers began.
        var confirming = confirmer?.ConfirmAsync(view, core.Closed).AsTask();
#if PLANTED
        if (Planted.Is("unconfirmed-check")) confirming = null;
#endif
        try
        {
            var tail = await TailAsync(view, streams);
            if (!tail.IsDone) return tail.Status;
            var confirmed = confirming is null ? Status.Ok : await confirming;
            confirming = null;
            return confirmed == Status.Ok ? tail.Value : confirmed;
        }
        finally
        {
            // The tail query has failed already; that is what the caller hears.
            confirming?.Abandon();
        }
    }

    /// <summary>From the sequencer or, while that is silent, from the units.</summary>
    private async ValueTask<Attempt<TailResponse>> TailAsync(EpochView view, ImmutableArray<StreamId> streams)
    {
        var asking = AskSequencerAsync(view, streams).AsTask();
        try
        {
            if (!asking.IsCompleted && !await _silence.InTimeAsync(asking))
            {
                var found = await slow.TryAsync(view, streams, core.Closed);
                if (!asking.IsCompleted) asking.Abandon();
                else if (asking.IsCompletedSuccessfully) return await asking;
                return found;
            }

            return await asking;
        }
        catch (TransportException) when (asking.IsFaulted)
        {
            return await slow.TryAsync(view, streams, core.Closed);
        }
    }

    private async ValueTask<Attempt<TailResponse>> AskSequencerAsync(EpochView view, ImmutableArray<StreamId> streams)
    {
        var tail = await core.CallSequencerAsync(view, new TailRequest(view.Epoch, streams), core.Closed);
        if (tail.Status == Status.UnknownStream)
        {
            var handedOver = await core.HandOver.RunAsync(view, tail.Unknown, core.Closed);
            if (handedOver != Status.Ok) return handedOver;
            tail = await core.CallSequencerAsync(view, new TailRequest(view.Epoch, streams), core.Closed);
        }

        // Unknown again, where a sequencer at its limit forgets streams as fast as they are handed over: with pauses, and not for ever.
        if (!tail.IsOk) return tail.Status;
        view.Saw(tail, core.Time.GetTimestamp());
        return tail;
    }
}
