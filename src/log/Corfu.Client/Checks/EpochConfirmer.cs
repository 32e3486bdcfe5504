using Corfu.Client.Layout;

namespace Corfu.Client;

/// <summary>Linearizability without clocks: asks all replicas of one active chain whether they are still exactly at
/// this epoch. Had the next one been decided before, some replica of every active chain would be sealed, and
/// refuse.</summary>
internal sealed class EpochConfirmer(
    UnitCalls units, LayoutClient layout, ClientClock clock, CorfuClientOptions options)
{
    // The chain to ask first; moves on when one has a silent replica. Any value is right.
    private int _chain;

    /// <summary>A chain that does not answer in time is not waited for: the next one is asked as well, and in the end
    /// the acceptors. All are asked after the call began, so the first answer that settles it counts.</summary>
    /// <returns>Ok: when the call began, no later epoch was decided. Else why that is not known.</returns>
    public async ValueTask<Status> ConfirmAsync(EpochView view, CancellationToken cancellationToken)
    {
        var chains = view.Projection.Active.Chains;
        var first = Volatile.Read(ref _chain);
        List<Task<Status>> running = [];
        TransportException? silent = null;
        var status = Status.Ok;
        for (var asked = 0; ; asked++)
        {
            if (asked == 1) Volatile.Write(ref _chain, (first + 1) % chains.Length);
            if (asked < chains.Length)
                running.Add(AskChainAsync(view, chains[(first + asked) % chains.Length], cancellationToken));
            else if (asked == chains.Length) running.Add(AskAcceptorsAsync(view, cancellationToken));
            else if (running.Count == 0) return silent is null ? status : throw silent;

            if (await FirstAsync(running, hasOthers: asked < chains.Length) is not { } ended) continue;
            running.Remove(ended);
            try
            {
                status = await ended;
            }
            catch (TransportException e)
            {
                silent = e;
                continue;
            }

            if (status is not (Status.Ok or Status.Sealed)) continue;
            foreach (var other in running) other.Abandon();
            return status;
        }
    }

    /// <summary>The first task to end; null if there is another source to ask and none has ended in time.</summary>
    private async ValueTask<Task<Status>?> FirstAsync(List<Task<Status>> running, bool hasOthers)
    {
        if (running.Count == 0) return null;
        if (!hasOthers) return await Task.WhenAny(running);
        var first = running.Count == 1 ? running[0] : (Task)Task.WhenAny(running);
        await clock.InTimeAsync(first, options.ConfirmTimeout);
        return running.Find(task => task.IsCompleted);
    }

    private async Task<Status> AskAcceptorsAsync(EpochView view, CancellationToken cancellationToken) =>
        await layout.HasNoSuccessorAsync(view.Projection, cancellationToken)
            ? Status.Ok
            : throw new TransportException(
                $"Neither a chain nor the acceptors confirm {view.Epoch}.", outcomeUnknown: false);

    private async Task<Status> AskChainAsync(EpochView view, Chain chain, CancellationToken cancellationToken)
    {
        var request = new ConfirmEpochRequest(view.Epoch);
        if (chain.FullCount == 1) return (await units.CallAsync(view, chain.Head, request, cancellationToken)).Status;
        var answers = await Task.WhenAll(
            chain.FullUnits.Select(u => units.CallAsync(view, u, request, cancellationToken).AsTask()));
        return answers.FirstOrDefault(a => !a.IsOk)?.Status ?? Status.Ok;
    }
}
