namespace Corfu.Client;

/// <summary>Checks (Tango 2.2, 5): the sequencer's tail, confirmed or not.</summary>
/// <remarks>
/// 1. A caller joins the next round that starts after its call, so any number of callers costs few messages.
/// 2. The round asks the sequencer for the tail and the streams' newest positions and, at the same time, one chain to
/// confirm the epoch.
/// 3. A sequencer that fails, or is silent for <see cref="CorfuClientOptions.SlowCheckDelay"/>, is left for the units
/// (<see cref="SlowChecker"/>).
/// 4. All callers are told, then the next round begins.
/// </remarks>
internal sealed class Checker(Retry retry, SequencerClient sequencer, SlowChecker slow, EpochConfirmer? confirmer,
    ClientClock clock, CorfuClientOptions options)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Batches that wait for their start, of which only the last (_open) may still grow; rounds in
    // flight, and their callers.
    private readonly Queue<CheckBatch> _next = new();
    private CheckBatch? _open;
    private int _running;
    private int _callersRunning;

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        clock.ThrowIfClosed();
        if (streams.Length > MessageLimits.MaxItems) return CheckPartsAsync(streams, cancellationToken);
        return ClientTelemetry.Activities.HasListeners()
            ? CheckTracedAsync(streams, cancellationToken)
            : CheckPartAsync(streams, cancellationToken);
    }

    private async ValueTask<LogCheck> CheckTracedAsync(
        ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.check");
        return await CheckPartAsync(streams, cancellationToken);
    }

    private ValueTask<LogCheck> CheckPartAsync(ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        CheckWaiter? waiter;
        CheckBatch? start;
        lock (_gate)
        {
            waiter = _open?.TryAdd(streams);
            if (waiter is null)
            {
                _open = new CheckBatch();
                waiter = _open.TryAdd(streams)!;
                _next.Enqueue(_open);
            }

            start = TakeNext();
        }

        // Before the round can complete it: a cancelled call always throws.
        var answer = waiter.OrCancelAsync(cancellationToken);
        if (start is not null) clock.Loops.Start(() => RunAsync(start));
        return new ValueTask<LogCheck>(answer);
    }

    /// <summary>More streams than fit into one message. Below the lowest tail, every part is complete.</summary>
    private async ValueTask<LogCheck> CheckPartsAsync(
        ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        while (true)
        {
            var parts = await Task.WhenAll(
                streams.Chunk(MessageLimits.MaxItems).Select(c => CheckPartAsync([.. c], cancellationToken).AsTask()));
            var tail = parts[0].Tail;
            foreach (var part in parts) tail = LogPosition.Min(tail, part.Tail);

            // Positions of different epochs do not compare (R10).
            if (Array.TrueForAll(parts, p => p.Tail.Epoch == tail.Epoch))
                return new LogCheck(tail, [.. parts.SelectMany(p => p.Streams)]);
        }
    }

    /// <summary>Under the gate. A round costs its messages however many callers share it, so another one starts beside
    /// those in flight only for at least as many callers as they have together. A caller alone never waits.</summary>
    private CheckBatch? TakeNext()
    {
        if (!_next.TryPeek(out var batch) || _running >= options.ChecksInFlight || batch.Callers < _callersRunning)
            return null;
        _next.Dequeue();
        if (batch == _open) _open = null;
        _running++;
        _callersRunning += batch.Callers;
        return batch;
    }

    private async Task RunAsync(CheckBatch batch)
    {
        TailResponse? response = null;
        Exception? error = null;
        try
        {
            ClientTelemetry.CheckCallers.Add(batch.Callers);
            var began = clock.GetTimestamp();
            response = await retry.RunAsync("A check", view => TryAsync(view, batch.Streams), clock.Closed);
            ClientTelemetry.CheckTime.Record(clock.GetElapsedTime(began).TotalSeconds);
        }
        catch (Exception e)
        {
            error = e;
        }

        // A single caller's continuation may not return soon, so the next round begins first.
        if (batch.Callers == 1) Finish(batch);
        Release(batch, response, error);
    }

    /// <summary>Completes the callers one after the other on this thread, where their context allows it: those that
    /// check again join the next round, which starts when all are told. A second worker completes the rest, so a
    /// blocking continuation delays no other caller.</summary>
    private void Release(CheckBatch batch, TailResponse? response, Exception? error)
    {
        var helped = !CheckWaiter.IsInlineAllowed;
        while (batch.TakeWaiter() is { } waiter)
        {
            if (!helped && batch.HasMore)
            {
                clock.Loops.Start(() => HelpAsync(batch, response, error));
                helped = true;
            }

            batch.Complete(waiter, response, error);
        }

        Finish(batch);
    }

    private async Task HelpAsync(CheckBatch batch, TailResponse? response, Exception? error)
    {
        await Task.Yield();
        Release(batch, response, error);
    }

    private void Finish(CheckBatch batch)
    {
        if (!batch.TryFinish()) return;
        CheckBatch? next;
        lock (_gate)
        {
            _running--;
            _callersRunning -= batch.Callers;
            next = TakeNext();
        }

        if (next is not null) clock.Loops.Start(() => RunAsync(next));
    }

    private async ValueTask<Attempt<TailResponse>> TryAsync(EpochView view, ImmutableArray<StreamId> streams)
    {
        // In parallel: the epoch only has to be confirmed by requests that were sent after the callers began.
        var confirming = confirmer?.ConfirmAsync(view, clock.Closed).AsTask();
        if (Planted.Is("unconfirmed-check")) confirming = null;
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
            if (!await clock.InTimeAsync(asking, options.SlowCheckDelay))
            {
                var found = await slow.TryAsync(view, streams, clock.Closed);
                if (!asking.IsCompleted) asking.Abandon();
                else if (asking.IsCompletedSuccessfully) return await asking;
                return found;
            }

            return await asking;
        }
        catch (TransportException) when (asking.IsFaulted)
        {
            return await slow.TryAsync(view, streams, clock.Closed);
        }
    }

    private async ValueTask<Attempt<TailResponse>> AskSequencerAsync(EpochView view, ImmutableArray<StreamId> streams)
    {
        var tail = await sequencer.ReadTailAsync(view, streams, clock.Closed);
        return tail.IsOk ? tail : tail.Status;
    }
}
