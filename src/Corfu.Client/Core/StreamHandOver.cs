using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Tells the sequencer of an epoch the tails of streams below the epoch's start. All clients read the same frozen
/// tails, and the first hand-over of a stream wins. A new sequencer meets many streams at once: one batch of an epoch
/// is under way at a time, and the callers that come meanwhile share the next one.
/// </summary>
internal sealed class StreamHandOver(SequencerCalls sequencer, FrozenTails frozen, ClientClock clock)
{
    private readonly Lock _gate = new();

    // Guarded by _gate, with its fields: the newest epoch that was asked for.
    private EpochBatches? _newest;

    /// <summary>
    /// A request that the sequencer refuses while it does not know the streams: they are handed over, and it is asked
    /// again.
    /// </summary>
    public async ValueTask<TResponse> CallAsync<TResponse>(
        EpochView view, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var response = await sequencer.CallAsync(view, request, cancellationToken);
        if (response.Status != Status.UnknownStream) return response;
        foreach (var some in UnknownOf(response).Chunk(MessageLimits.MaxItems))
        {
            var status = await RunAsync(view, [.. some], cancellationToken);
            if (status != Status.Ok) return (TResponse)request.Fail(status, response.Epoch);
        }

        // Unknown again, where a sequencer at its limit forgets streams as fast as they are handed over: the caller
        // pauses, and not for ever.
        return await sequencer.CallAsync(view, request, cancellationToken);
    }

    private static ImmutableArray<StreamId> UnknownOf(Response refused) => refused switch
    {
        TokenResponse token => token.Unknown,
        TailResponse tail => tail.Unknown,
        _ => [],
    };

    /// <returns>Ok, or why the epoch's units or sequencer refuse; Sealed also where a newer epoch was asked
    /// for.</returns>
    public async Task<Status> RunAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (Join(view, streams, out var joined) is not { } batch) return Status.Sealed;
            var done = batch.Done.Task;
            if (!joined)
            {
                // The next batch is full: this caller waits for the one after it.
                await Task.WhenAny(done).WaitOrCancelAsync(cancellationToken);
                continue;
            }

            var status = await done.WaitOrCancelAsync(cancellationToken);

            // A refusal may be about another caller's streams.
            return status is Status.Ok or Status.Sealed || batch.Callers == 1
                ? status
                : await HandOverAsync(view, streams, cancellationToken);
        }
    }

    private Batch? Join(EpochView view, ImmutableArray<StreamId> streams, out bool joined)
    {
        EpochBatches epoch;
        Batch batch;
        var first = false;
        lock (_gate)
        {
            joined = false;
            if (_newest is null || _newest.View.Epoch < view.Epoch) _newest = new EpochBatches(view);
            epoch = _newest;
            if (epoch.View.Epoch > view.Epoch) return null;
            batch = epoch.Next ??= new Batch();
            joined = batch.Callers == 0 || batch.Streams.Count + streams.Length <= MessageLimits.MaxItems;
            if (joined)
            {
                batch.Streams.AddRange(streams);
                batch.Callers++;
                first = !epoch.IsRunning;
                epoch.IsRunning = true;
            }
        }

        if (first) RunAllAsync(epoch).Abandon();
        return batch;
    }

    private async Task RunAllAsync(EpochBatches epoch)
    {
        while (true)
        {
            Batch? batch;
            lock (_gate)
            {
                (batch, epoch.Next) = (epoch.Next, null);
                epoch.IsRunning = batch is not null;
            }

            if (batch is null) return;
            try
            {
                batch.Done.SetResult(await HandOverAsync(epoch.View, [.. batch.Streams], clock.Closed));
            }
            catch (Exception e)
            {
                batch.Done.SetException(e);
                batch.Done.Task.Abandon();
            }
        }
    }

    private async Task<Status> HandOverAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        var tails = await frozen.GatherAsync(view, streams, view.Projection.Start, cancellationToken);
        if (!tails.IsDone) return tails.Status;
        ClientTelemetry.HandOvers.Add(streams.Length);
        return (
            await sequencer.CallAsync(view, new LoadStreamsRequest(view.Epoch, tails.Value), cancellationToken)).Status;
    }

    private sealed class EpochBatches(EpochView view)
    {
        public EpochView View { get; } = view;

        public Batch? Next { get; set; }

        public bool IsRunning { get; set; }
    }

    private sealed class Batch
    {
        public List<StreamId> Streams { get; } = [];

        public int Callers { get; set; }

        public TaskCompletionSource<Status> Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
