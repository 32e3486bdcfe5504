namespace Corfu.Client;

/// <summary>Tells the sequencer of an epoch the tails of streams below the epoch's start. All clients read the same
/// frozen tails, and the first hand-over of a stream wins. A new sequencer meets many streams at once: one batch of an
/// epoch is under way at a time, and the callers that come meanwhile share the next one.</summary>
internal sealed class StreamHandOver(SequencerCalls sequencer, FrozenTails frozen, ClientClock clock)
{
    /// <summary>A request of streams; those that the sequencer does not know are handed over first.</summary>
    public async ValueTask<TResponse> CallAsync<TResponse>(
        EpochView view, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var response = await sequencer.CallAsync(view, request, cancellationToken);
        if (response.Status != Status.UnknownStream) return response;
        var unknown = response switch
        {
            TokenResponse token => token.Unknown,
            TailResponse tail => tail.Unknown,
            _ => [],
        };
        foreach (var some in unknown.Chunk(MessageLimits.MaxItems))
        {
            var status = await RunAsync(view, some, cancellationToken);
            if (status != Status.Ok) return (TResponse)request.Fail(status, response.Epoch);
        }

        // A sequencer at its limit may forget streams as fast as they are handed over: then the caller pauses.
        return await sequencer.CallAsync(view, request, cancellationToken);
    }

    private async Task<Status> RunAsync(EpochView view, StreamId[] streams, CancellationToken cancellationToken)
    {
        var batches = view.HandOvers;
        HandOverBatch batch;
        lock (batches)
        {
            if (batches.Next is not { } next || next.Streams.Count + streams.Length > MessageLimits.MaxItems)
            {
                next = batches.Next = new HandOverBatch();
                var (started, after) = (next, batches.Last);
                batches.Last = next.Done = clock.Loops.RunAsync(() => RunAsync(view, started, after));
                next.Done.Abandon();
            }

            batch = next;
            batch.Streams.AddRange(streams);
            batch.Callers++;
        }

        var status = await batch.Done.WaitOrCancelAsync(cancellationToken);

        // A refusal may be about another caller's streams.
        return status is Status.Ok or Status.Sealed || batch.Callers == 1
            ? status
            : await HandOverAsync(view, [.. streams], cancellationToken);
    }

    private async Task<Status> RunAsync(EpochView view, HandOverBatch batch, Task<Status> after)
    {
        // Outside the lock. The failure of another batch is told to its own callers.
        await Task.Yield();
        await Task.WhenAny(after);
        lock (view.HandOvers)
        {
            if (view.HandOvers.Next == batch) view.HandOvers.Next = null;
        }

        return await HandOverAsync(view, [.. batch.Streams], clock.Closed);
    }

    private async Task<Status> HandOverAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        var tails = await frozen.GatherAsync(view, streams, view.Projection.Start, cancellationToken);
        if (!tails.IsDone) return tails.Status;
        ClientTelemetry.HandOvers.Add(streams.Length);
        var load = new LoadStreamsRequest(view.Epoch, tails.Value);
        return (await sequencer.CallAsync(view, load, cancellationToken)).Status;
    }
}

/// <summary>The hand-overs of an epoch; guarded by itself.</summary>
internal sealed class HandOverBatches
{
    /// <summary>The batch that has not begun and takes callers.</summary>
    public HandOverBatch? Next { get; set; }

    /// <summary>The result of the newest batch.</summary>
    public Task<Status> Last { get; set; } = Task.FromResult(Status.Ok);
}

/// <summary>Streams to hand over together, and the callers that wait for it.</summary>
internal sealed class HandOverBatch
{
    public List<StreamId> Streams { get; } = [];

    public int Callers { get; set; }

    public Task<Status> Done { get; set; } = null!;
}
