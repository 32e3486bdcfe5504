using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Linearizability without clocks: all replicas of one chain of the active segment are asked whether they are still exactly at this
/// epoch. Had the next one been decided before, some replica of every active chain would be sealed, and refuse.
/// </summary>
internal sealed class EpochConfirmer(ClientCore core)
{
    // The chain asked first; moves on when one has a silent replica. Any value is right.
    private int _chain;

    /// <summary>Ok: when the call began, no later epoch was decided. Else why that is not known.</summary>
    public async ValueTask<Status> ConfirmAsync(EpochView view, CancellationToken cancellationToken)
    {
        var chains = view.Projection.Active.Chains;
        var first = Volatile.Read(ref _chain);
        TransportException? silent = null;
        for (var i = 0; i < chains.Length; i++)
        {
            try
            {
                return await ConfirmAsync(view, chains[(first + i) % chains.Length], cancellationToken);
            }
            catch (TransportException e)
            {
                silent = e;
                Volatile.Write(ref _chain, (first + i + 1) % chains.Length);
            }
        }

        return await core.Layout.HasNoSuccessorAsync(view.Projection, cancellationToken) ? Status.Ok : throw silent!;
    }

    private async ValueTask<Status> ConfirmAsync(EpochView view, Chain chain, CancellationToken cancellationToken)
    {
        var request = new ConfirmEpochRequest(view.Epoch);
        if (chain.FullCount == 1) return (await core.CallUnitAsync(view, chain.Head, request, cancellationToken)).Status;
        var calls = new Task<AckResponse>[chain.FullCount];
        for (var i = 0; i < calls.Length; i++) calls[i] = core.CallUnitAsync(view, chain.Replicas[i].Unit, request, cancellationToken).AsTask();
        foreach (var answer in await Task.WhenAll(calls))
        {
            if (!answer.IsOk) return answer.Status;
        }

        return Status.Ok;
    }
}
