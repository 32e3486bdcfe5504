using Corfu;
using Tango.Calls;
using Tango.Playback;

namespace Tango.Transactions;

/// <summary>Finds out what became of transactions that ended in doubt, without writing them again.</summary>
internal sealed class OutcomeResolver(ICorfuLog log, CohortOpenings cohorts, RuntimeLifetime lifetime)
{
    /// <inheritdoc cref="TangoRuntime.ResolveAsync"/>
    public async ValueTask<TxOutcome> ResolveAsync(TxOutcome.InDoubt inDoubt, CancellationToken cancellationToken)
    {
        var call = inDoubt.Call as CommitCall
            ?? throw new ArgumentException("The outcome is not of a transaction of this process", nameof(inDoubt));
        if (!ReferenceEquals(call.Log, log))
            throw new ArgumentException("The outcome is of a transaction of another log", nameof(inDoubt));
        await cohorts.OpenDirectoryAsync(cancellationToken);
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
            switch (await log.ResolveAsync(place.Append, cancellationToken))
            {
                case AppendOutcome.NotAppended:
                    return call.NotWritten();
                case AppendOutcome.Unknown:
                    return inDoubt;
            }
        }

        if (call.IsDecidedByPlace) return call.DecideByPlace(place.Version);
        return await DecideAnewAsync(place.Version, cancellationToken) ?? inDoubt;
    }

    /// <inheritdoc cref="TangoRuntime.ResolveUpdateAsync"/>
    public async ValueTask<TangoUpdateFate> ResolveUpdateAsync(
        TangoInDoubtException inDoubt, CancellationToken cancellationToken)
    {
        var call = inDoubt.Update as UpdateCall
            ?? throw new ArgumentException("The exception is not of an update of this process", nameof(inDoubt));
        if (!ReferenceEquals(call.Log, log))
            throw new ArgumentException("The exception is of an update of another log", nameof(inDoubt));
        if (call.Later is { } later) await later.WaitOrCancelAsync(cancellationToken);
        if (call.IsNotWritten) return new TangoUpdateFate(UpdateFate.NotWritten);
        if (call.Place is not { } place) return new TangoUpdateFate(UpdateFate.Unknown);
        var outcome = place.Append.IsAppended
            ? AppendOutcome.Appended
            : await log.ResolveAsync(place.Append, cancellationToken);
        return outcome switch
        {
            AppendOutcome.Appended => new TangoUpdateFate(
                UpdateFate.Written, new LogPlace(place.Version.Position, place.Version.Index, 0)),
            AppendOutcome.NotAppended => new TangoUpdateFate(UpdateFate.NotWritten),
            _ => new TangoUpdateFate(UpdateFate.Unknown),
        };
    }

    /// <returns>Null: it cannot be decided here, or not yet.</returns>
    private async ValueTask<TxOutcome?> DecideAnewAsync(RecordVersion commit, CancellationToken cancellationToken)
    {
        var read = (await log.ReadManyAsync([commit.Position], cancellationToken: cancellationToken))[0];
        if (read.State == PageState.Trimmed)
        {
            throw new TangoTrimmedException(
                $"The log is trimmed of {commit.Position}, where the commit record stood or would have stood",
                null, null);
        }

        if (read.Entry is not { } entry) return null;
        try
        {
            var decision = await lifetime.RunAsync(
                stop => DecisionProbe.RunAsync(entry, commit, cohorts.Beside, stop), cancellationToken);
            return decision.Aborted ?? (TxOutcome)new TxOutcome.Committed(commit);
        }
        catch (UndecidableException)
        {
            return null;
        }
    }
}
