using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// The appends to one set of streams that wait for tokens. While requests are on their way the others gather and share the next
/// one; an append that is alone asks at once.
/// </summary>
internal sealed class TokenQueue(ClientCore core, ImmutableArray<StreamId> streams)
{
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly Queue<TokenWaiter> _waiting = new();
    private int _asking;

    /// <summary>Guarded by the owner's gate: callers between finding this queue and waiting in it.</summary>
    public int Users { get; set; }

    public Task<TokenGrant> TakeAsync(ushort graceMilliseconds, CancellationToken cancellationToken)
    {
        var waiter = new TokenWaiter(graceMilliseconds);
        lock (_gate)
        {
            _waiting.Enqueue(waiter);
            if (_asking < core.Options.TokenRequestsInFlight) _asking++;
            else return Wait(waiter, cancellationToken);
        }

        _ = AskAsync();
        return Wait(waiter, cancellationToken);
    }

    // A waiter that is gone when its position comes leaves it to the next one.
    private static Task<TokenGrant> Wait(TokenWaiter waiter, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled && !waiter.Task.IsCompleted ? WaitCancellableAsync(waiter, cancellationToken) : waiter.Task;

    private static async Task<TokenGrant> WaitCancellableAsync(TokenWaiter waiter, CancellationToken cancellationToken)
    {
        await using var registration = cancellationToken.UnsafeRegister(static (w, t) => ((TokenWaiter)w!).TrySetCanceled(t), waiter);
        return await waiter.Task;
    }

    private async Task AskAsync()
    {
        while (true)
        {
            var batch = TakeBatch();
            if (batch is null) return;
            try
            {
                await AskAsync(batch);
            }
            catch (Exception e)
            {
                foreach (var waiter in batch) waiter.TrySetException(e);
            }
        }
    }

    private List<TokenWaiter>? TakeBatch()
    {
        lock (_gate)
        {
            while (_waiting.TryPeek(out var gone) && gone.Task.IsCompleted) _waiting.Dequeue();
            if (_waiting.Count == 0)
            {
                _asking--;
                return null;
            }

            var batch = new List<TokenWaiter>(Math.Min(_waiting.Count, core.Options.MaxTokensPerRequest));
            while (batch.Count < core.Options.MaxTokensPerRequest && _waiting.TryDequeue(out var waiter)) batch.Add(waiter);
            return batch;
        }
    }

    private async ValueTask AskAsync(List<TokenWaiter> batch)
    {
        ushort grace = 0;
        foreach (var waiter in batch) grace = Math.Max(grace, waiter.GraceMilliseconds);
        Patience? patience = null;
        while (true)
        {
            core.ThrowIfClosed();
            var view = core.View;
            string trouble;
            Exception? cause = null;
            try
            {
                var response = await core.CallSequencerAsync(view, new TokenRequest(view.Epoch, batch.Count, streams, grace), core.Closed);
                if (response.IsOk)
                {
                    Distribute(view, batch, response);
                    return;
                }

                var status = response.Status;
                if (status == Status.UnknownStream) status = await core.HandOver.RunAsync(view, response.Unknown, core.Closed);
                patience ??= core.Patience("A token", core.Closed);
                if (status == Status.Sealed) await core.Refresher.NewerThanAsync(view.Epoch, patience, core.Closed);
                if (status is Status.Ok or Status.Sealed && !patience.IsOver) continue;
                if (status is Status.StreamLimit or Status.BadRequest or Status.Unsupported or Status.Mirror) throw CorfuException.FromStatus(status, "A token");
                trouble = $"the answer is {status}.";
            }
            catch (TransportException e)
            {
                // If the answer is lost, the positions granted by it are holes, which somebody closes.
                trouble = e.Message;
                cause = e;
            }

            patience ??= core.Patience("A token", core.Closed);
            await patience.PauseAsync(view.Epoch, trouble, cause);
        }
    }

    private void Distribute(EpochView view, List<TokenWaiter> batch, TokenResponse response)
    {
        view.Grants.Saw(response.First + batch.Count, core.Time.GetTimestamp());
        var next = 0;
        for (var i = 0; i < batch.Count; i++)
        {
            var grant = new TokenGrant(view, response.First + i, HeadersOf(response, i));
            while (next < batch.Count && !batch[next++].TrySetResult(grant))
            {
            }
        }
    }

    /// <summary>The i-th token of a run follows the run's earlier ones in every stream.</summary>
    private static ImmutableArray<StreamHeader> HeadersOf(TokenResponse response, int index)
    {
        var headers = ImmutableArray.CreateBuilder<StreamHeader>(response.Previous.Length);
        foreach (var tail in response.Previous)
            headers.Add(new StreamHeader(tail.Stream, RunBackpointers.Of(response.First, index, tail.Positions)));
        return headers.MoveToImmutable();
    }
}
