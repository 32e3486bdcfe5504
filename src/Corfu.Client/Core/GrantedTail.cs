namespace Corfu.Client;

/// <summary>Tells what is granted in an epoch: everything below its start, and what lies below a tail that its
/// sequencer answered (R10).</summary>
internal sealed class GrantedTail(SequencerCalls sequencer, EpochConfirmer confirmer, ClientClock clock)
{
    /// <returns>Whether everything below <paramref name="below"/> is granted. False only where the epoch was the newest
    /// when the call began, so that no later one had granted it either; a status where that is not known.</returns>
    public async ValueTask<Attempt<bool>> CoversAsync(
        EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        if (below <= view.Projection.Start || below.Offset <= view.Grants.Tail) return true;
        var tail = await sequencer.CallAsync(view, new TailRequest(view.Epoch, []), cancellationToken);
        if (!tail.IsOk) return tail.Status;
        view.Saw(tail, clock.GetTimestamp());
        if (below <= tail.Tail) return true;

        // A replaced sequencer may still answer its old tail, while the caller knows an entry of a later epoch.
        var confirmed = await confirmer.ConfirmAsync(view, cancellationToken);
        if (confirmed != Status.Ok) return confirmed;
        return false;
    }
}
