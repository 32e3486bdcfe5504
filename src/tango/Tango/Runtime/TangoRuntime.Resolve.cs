using Corfu;
using Tango.Calls;
using Tango.Playback;
using Tango.Runtime;

namespace Tango;

public sealed partial class TangoRuntime
{
    /// <summary>
    /// Finds out what became of a transaction that ended in doubt. It never writes the transaction again. May be
    /// repeated: where the answer is in doubt again, a unit or the log could not be reached. For a call whose position
    /// never became known here the answer stays in doubt.
    /// </summary>
    /// <param name="inDoubt">From a transaction of this runtime, or from <see cref="TangoInDoubtException.Outcome"/>.
    /// </param>
    /// <returns>Committed, Aborted (with <see cref="AbortReason.NotWritten"/> if nothing came into the log), or InDoubt
    /// again. A commit does not say how many writes were rejected.</returns>
    /// <exception cref="ArgumentException">The outcome is of another log, from another process, or made by
    /// hand.</exception>
    /// <exception cref="TangoTrimmedException">The history that decides is trimmed.</exception>
    public async ValueTask<TxOutcome> ResolveAsync(
        TxOutcome.InDoubt inDoubt, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(inDoubt);
        RequireNoTransaction();
        var call = inDoubt.Call
            ?? throw new ArgumentException("The outcome is not of a transaction of this process", nameof(inDoubt));
        if (!ReferenceEquals(call.Log, _log))
            throw new ArgumentException("The outcome is of a transaction of another log", nameof(inDoubt));
        await AttachDirectoryAsync(cancellationToken);
        // A caller that was cancelled: the record goes on without it.
        if (inDoubt.Later is { } later)
        {
            await later.WaitOrCancelAsync(cancellationToken);
            var heard = await later;
            if (heard is not TxOutcome.InDoubt again) return heard;
            inDoubt = again;
        }

        if (call.Place is not { } place) return inDoubt;
        if (!place.Append.IsAppended)
        {
            switch (await _log.ResolveAsync(place.Append, cancellationToken))
            {
                case AppendOutcome.NotAppended:
                    return call.NotWritten();
                case AppendOutcome.Unknown:
                    return inDoubt;
            }
        }

        if (!call.NeedsPlayback) return call.DecideByPlace(place.Version);
        return await DecideAnewAsync(place.Version, cancellationToken) ?? inDoubt;
    }

    /// <returns>Null: it cannot be decided here, or not yet.</returns>
    private async ValueTask<TxOutcome?> DecideAnewAsync(RecordVersion commit, CancellationToken cancellationToken)
    {
        var read = (await _log.ReadManyAsync([commit.Position], cancellationToken: cancellationToken))[0];
        if (read.State == PageState.Trimmed)
        {
            throw new TangoTrimmedException(
                $"The log is trimmed of {commit.Position}, where the commit record stood or would have stood",
                null, null);
        }

        if (read.Entry is not { } entry) return null;
        try
        {
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
            var decision = await DecisionProbe.RunAsync(entry, commit, _beside, stop.Token);
            return decision.Aborted ?? (TxOutcome)new TxOutcome.Committed(commit);
        }
        catch (UndecidableException)
        {
            return null;
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }
}
