using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// The appends to one set of streams that wait for tokens. While requests are on their way the others gather and share
/// the next one; an append that is alone asks at once.
/// </summary>
internal sealed class TokenQueue(
    ImmutableArray<StreamId> streams, Retry retry, StreamHandOver handOver, ClientClock clock,
    CorfuClientOptions options)
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
            if (_asking < options.TokenRequestsInFlight) _asking++;
            else return Wait(waiter, cancellationToken);
        }

        _ = AskAsync();
        return Wait(waiter, cancellationToken);
    }

    // The position of a cancelled waiter goes to the next one.
    private static Task<TokenGrant> Wait(TokenWaiter waiter, CancellationToken cancellationToken) =>
        cancellationToken.CanBeCanceled && !waiter.Task.IsCompleted
            ? WaitCancellableAsync(waiter, cancellationToken)
            : waiter.Task;

    private static async Task<TokenGrant> WaitCancellableAsync(TokenWaiter waiter, CancellationToken cancellationToken)
    {
        await using var registration = cancellationToken.UnsafeRegister(
            static (w, t) => ((TokenWaiter)w!).TrySetCanceled(t), waiter);
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

            var batch = new List<TokenWaiter>(Math.Min(_waiting.Count, options.MaxTokensPerRequest));
            while (batch.Count < options.MaxTokensPerRequest && _waiting.TryDequeue(out var waiter)) batch.Add(waiter);
            return batch;
        }
    }

    private async ValueTask AskAsync(List<TokenWaiter> batch)
    {
        ushort grace = 0;
        foreach (var waiter in batch) grace = Math.Max(grace, waiter.GraceMilliseconds);
        // If an answer is lost, the positions granted by it are holes, which somebody closes.
        await retry.RunAsync<bool>("A token", view => TryAskAsync(view, batch, grace), clock.Closed);
    }

    private async ValueTask<Attempt<bool>> TryAskAsync(EpochView view, List<TokenWaiter> batch, ushort grace)
    {
        var response = await handOver.CallAsync(
            view, new TokenRequest(view.Epoch, batch.Count, streams, grace), static answer =>
                answer.Unknown, clock.Closed);
        if (!response.IsOk) return response.Status;
        Distribute(view, batch, response);
        return true;
    }

    private void Distribute(EpochView view, List<TokenWaiter> batch, TokenResponse response)
    {
        view.Grants.Saw(response.First + batch.Count, clock.GetTimestamp());
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

/// <summary>One append that waits for its position.</summary>
internal sealed class TokenWaiter(ushort graceMilliseconds)
    : TaskCompletionSource<TokenGrant>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public ushort GraceMilliseconds { get; } = graceMilliseconds;
}

/// <summary>
/// Backpointers inside a run of tokens: the run's own earlier positions first, then what stood before the run.
/// </summary>
internal static class RunBackpointers
{
    public static ImmutableArray<LogPosition> Of(LogPosition first, int index, ImmutableArray<LogPosition> previous)
    {
        if (index == 0) return previous;
        var own = Math.Min(index, StreamHeader.MaxBackpointers);
        var pointers = new LogPosition[Math.Min(own + previous.Length, StreamHeader.MaxBackpointers)];
        for (var i = 0; i < own; i++) pointers[i] = first + (index - 1 - i);
        for (var i = own; i < pointers.Length; i++) pointers[i] = previous[i - own];
        return ImmutableCollectionsMarshal.AsImmutableArray(pointers);
    }
}
