namespace Corfu.Client;

/// <summary>Asks the sequencer of an epoch for tokens and tails, and notes what it grants in the view. A sequencer that
/// has not started gets the projection first (R7); streams that it does not know are handed over first.</summary>
/// <remarks>
/// A hand-over tells the sequencer the tails of streams below the epoch's start. All clients read the same frozen
/// tails, and the first hand-over of a stream wins. A new sequencer meets many streams at once: one batch of an epoch
/// is under way at a time, and the callers that come meanwhile share the next one.
/// </remarks>
internal sealed class SequencerClient(
    ITransport transport, ProjectionHolder projections, FrozenTails frozen, ClientClock clock)
{
    /// <summary>Takes <paramref name="count"/> consecutive positions, each for all of the streams.</summary>
    /// <param name="besides">Streams whose tails are to be told too.</param>
    /// <param name="declarations">None, or one for each position.</param>
    public async ValueTask<TokenResponse> TakeAsync(EpochView view, int count, ImmutableArray<StreamId> streams,
        ImmutableArray<StreamId> besides, ImmutableArray<Declaration> declarations, ushort graceMilliseconds,
        CancellationToken cancellationToken)
    {
        var request = new TokenRequest(view.Epoch, count, streams, graceMilliseconds, besides)
        {
            Declarations = declarations,
        };
        var response = await CallAsync(view, request, cancellationToken);
        if (response.Status == Status.UnknownStream)
            response = await HandOverAndCallAsync(view, request, response.Unknown, cancellationToken);
        if (!response.IsOk) return response;
        var granted = response.Rulings.IsEmpty ? count : response.Rulings.Count(static r => r.IsGranted);
        view.Grants.Saw(response.First + granted, clock.GetTimestamp());
        return response;
    }

    /// <summary>The tail and, atomically with it, the newest positions of the streams.</summary>
    public async ValueTask<TailResponse> ReadTailAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        var request = new TailRequest(view.Epoch, streams);
        var response = await CallAsync(view, request, cancellationToken);
        if (response.Status == Status.UnknownStream)
            response = await HandOverAndCallAsync(view, request, response.Unknown, cancellationToken);
        if (response.IsOk) view.Saw(response, clock.GetTimestamp());
        return response;
    }

    /// <summary>The streams of positions that this incarnation granted in this epoch, as far as it remembers.</summary>
    public ValueTask<GrantsResponse> ReadGrantsAsync(
        EpochView view, ImmutableArray<LogPosition> positions, CancellationToken cancellationToken) =>
        CallAsync(view, new GrantsRequest(view.Epoch, positions), cancellationToken);

    /// <summary>Lets the tail of a mirror rise, with the streams of the entries that were copied.</summary>
    public async ValueTask<Status> AdvanceAsync(EpochView view, LogPosition from, LogPosition to,
        ImmutableArray<AdvancedEntry> entries, CancellationToken cancellationToken)
    {
        var request = new AdvanceRequest(view.Epoch, from, to, entries);
        var response = await CallAsync(view, request, cancellationToken);
        if (response.Status == Status.UnknownStream)
            response = await HandOverAndCallAsync(view, request, response.Unknown, cancellationToken);
        return response.Status;
    }

    private async ValueTask<TResponse> CallAsync<TResponse>(
        EpochView view, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        // A sequencer that has left the projection may never answer.
        if (
            projections.Current is var newest && newest != view
            && newest.Projection.Sequencer.Id != view.Projection.Sequencer.Id)
            return (TResponse)request.Fail(Status.Sealed, newest.Epoch);
        var address = view.Projection.Sequencer;
        var response = await transport.CallAsync(address, request, cancellationToken);
        if (response.Status != Status.NotBootstrapped) return response;
        var bootstrapped = await transport.CallAsync(address, new BootstrapRequest(view.Projection), cancellationToken);
        if (!bootstrapped.IsOk) return (TResponse)request.Fail(bootstrapped.Status, bootstrapped.Epoch);
        return await transport.CallAsync(address, request, cancellationToken);
    }

    /// <summary>For the answer <see cref="Status.UnknownStream"/>.</summary>
    private async ValueTask<TResponse> HandOverAndCallAsync<TResponse>(EpochView view, Request<TResponse> request,
        ImmutableArray<StreamId> unknown, CancellationToken cancellationToken)
        where TResponse : Response
    {
        foreach (var streams in unknown.Chunk(MessageLimits.MaxItems))
        {
            var status = await JoinHandOverAsync(view, streams, cancellationToken);
            if (status != Status.Ok) return (TResponse)request.Fail(status, view.Epoch);
        }

        // A sequencer at its limit may forget streams as fast as they are handed over: then the caller pauses.
        return await CallAsync(view, request, cancellationToken);
    }

    private async Task<Status> JoinHandOverAsync(
        EpochView view, StreamId[] streams, CancellationToken cancellationToken)
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
        return (await CallAsync(view, new LoadStreamsRequest(view.Epoch, tails.Value), cancellationToken)).Status;
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
