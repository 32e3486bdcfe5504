namespace Corfu.Client;

/// <summary>Tells what is granted in an epoch: everything below its start, and what lies below a tail that its
/// sequencer answered (R10).</summary>
internal sealed class GrantedTail(SequencerClient sequencer, EpochConfirmer confirmer, TailCap cap)
{
    /// <summary>The part of a caller's tail that counts in this epoch. Another tail is no bound for it: one that the
    /// units answer may lie below an earlier one of the sequencer, where granted positions are not written.</summary>
    /// <exception cref="PositionNotGrantedException">The tail is above every granted position.</exception>
    public async ValueTask<Attempt<LogPosition>> CapAsync(
        EpochView view, LogPosition tail, CancellationToken cancellationToken)
    {
        var capped = await cap.CapAsync(view, tail, cancellationToken);
        var status = await RequireAsync(view, capped, tail, cancellationToken);
        return status == Status.Ok ? capped : status;
    }

    /// <param name="named">The position that the caller named.</param>
    /// <returns>Ok: everything below <paramref name="below"/> is granted.</returns>
    /// <exception cref="PositionNotGrantedException">The epoch is the newest, and has not granted it.</exception>
    public async ValueTask<Status> RequireAsync(
        EpochView view, LogPosition below, LogPosition named, CancellationToken cancellationToken)
    {
        var covers = await CoversAsync(view, below, cancellationToken);
        if (!covers.IsDone) return covers.Status;
        return covers.Value
            ? Status.Ok
            : throw new PositionNotGrantedException(
                $"{named} is not granted: the log ends at {new LogPosition(view.Grants.Tail, view.Epoch)}.");
    }

    /// <returns>Whether everything below <paramref name="below"/> is granted. False only where the epoch was the newest
    /// when the call began, so that no later one had granted it either; a status where that is not known.</returns>
    public async ValueTask<Attempt<bool>> CoversAsync(
        EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        if (below <= view.Projection.Start || below.Offset <= view.Grants.Tail) return true;
        var tail = await sequencer.ReadTailAsync(view, [], cancellationToken);
        if (!tail.IsOk) return tail.Status;
        if (below <= tail.Tail) return true;

        // A replaced sequencer may still answer its old tail, while the caller knows an entry of a later epoch.
        var confirmed = await confirmer.ConfirmAsync(view, cancellationToken);
        if (confirmed != Status.Ok) return confirmed;
        return false;
    }
}
