using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// Linearizability without clocks: all replicas of one chain of the active segment are asked whether they are still
/// exactly at this epoch. Had the next one been decided before, some replica of every active chain would be sealed, and
/// refuse.
/// </summary>
internal sealed class EpochConfirmer(
    UnitCalls units, LayoutClient layout, ClientClock clock, CorfuClientOptions options)
{
    // The chain asked first; moves on when one has a silent replica. Any value is right.
    private int _chain;

    /// <summary>Ok: when the call began, no later epoch was decided. Else why that is not known.</summary>
    public async ValueTask<Status> ConfirmAsync(EpochView view, CancellationToken cancellationToken)
    {
        var first = Volatile.Read(ref _chain);
        var asking = ConfirmAsync(view, ChainAt(view, first), cancellationToken);
        var task = asking.AsTask();
        if (task is { IsCompletedSuccessfully: true, Result: Status.Ok or Status.Sealed }) return task.Result;
        return await RaceAsync(view, first, task, cancellationToken);
    }

    /// <summary>
    /// A chain that does not answer in time is not waited for: the next one is asked as well, and in the end the
    /// acceptors. All were asked after the call began, so the first answer that settles it counts.
    /// </summary>
    private async ValueTask<Status> RaceAsync(
        EpochView view, int first, Task<Status> asking, CancellationToken cancellationToken)
    {
        var chains = view.Projection.Active.Chains.Length;
        List<Task<Status>> running = [asking];
        TransportException? silent = null;
        var status = Status.Ok;
        for (var asked = 1; ; asked++)
        {
            var known = await FirstAsync(running, asked <= chains);
            if (known is { } task)
            {
                running.Remove(task);
                try
                {
                    status = await task;
                    if (status is Status.Ok or Status.Sealed)
                    {
                        foreach (var other in running) other.Abandon();
                        return status;
                    }
                }
                catch (TransportException e)
                {
                    silent = e;
                }
            }

            if (asked == 1) Volatile.Write(ref _chain, (first + 1) % chains);
            if (asked < chains)
                running.Add(ConfirmAsync(view, ChainAt(view, first + asked), cancellationToken).AsTask());
            else if (asked == chains) running.Add(AskAcceptorsAsync(view, cancellationToken));
            else if (running.Count == 0) return silent is null ? status : throw silent;
        }
    }

    /// <summary>The first task to end; null if there is somebody else to ask and none has ended in time.</summary>
    private async ValueTask<Task<Status>?> FirstAsync(List<Task<Status>> running, bool others)
    {
        if (running.Count == 0) return null;
        if (!others) return await Task.WhenAny(running);
        var first = running.Count == 1 ? running[0] : (Task)Task.WhenAny(running);
        await clock.InTimeAsync(first, options.ConfirmTimeout);
        return running.Find(task => task.IsCompleted);
    }

    private async Task<Status> AskAcceptorsAsync(EpochView view, CancellationToken cancellationToken) =>
        await layout.HasNoSuccessorAsync(view.Projection, cancellationToken)
            ? Status.Ok
            : throw new TransportException(
                $"Neither a chain nor the acceptors confirm {view.Epoch}.", outcomeUnknown: false);

    private static Chain ChainAt(EpochView view, int index) =>
        view.Projection.Active.Chains[index % view.Projection.Active.Chains.Length];

    private async ValueTask<Status> ConfirmAsync(EpochView view, Chain chain, CancellationToken cancellationToken)
    {
        var request = new ConfirmEpochRequest(view.Epoch);
        if (chain.FullCount == 1) return (await units.CallAsync(view, chain.Head, request, cancellationToken)).Status;
        var calls = new Task<AckResponse>[chain.FullCount];
        for (var i = 0; i < calls.Length; i++)
            calls[i] = units.CallAsync(view, chain.Replicas[i].Unit, request, cancellationToken).AsTask();
        foreach (var answer in await Task.WhenAll(calls))
        {
            if (!answer.IsOk) return answer.Status;
        }

        return Status.Ok;
    }
}
