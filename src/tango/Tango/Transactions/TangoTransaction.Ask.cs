using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Model;
using Tango.Records;
using Tango.Transactions;

namespace Tango;

// The sequencer decides, as it grants the position of the commit record: what was read is unchanged between a tail that
// is played here and the grant. The record then commits wherever it is played, and no other runtime has to host what
// was read.
public sealed partial class TangoTransaction
{
    // Then playback decides: each refusal without a conflict cost a round trip.
    private const int MaxAsks = 3;

    // How often the log is played for a tail, where objects join while it is.
    private const int MaxSyncs = 3;

    // Guarded by _gate until the end. The transaction or one that joined it asked for it.
    private bool _awaitsApplied;

    /// <summary>Asks the sequencer to decide.</summary>
    /// <remarks>
    /// <list type="number">
    /// <item>Take the tail up to which everything is played, and compare what was read with the versions that are known
    /// then. A write that was played, and nothing else, aborts the transaction (R30).</item>
    /// <item>Send the record with that tail. Granted and at all replicas, it has committed (R33).</item>
    /// <item>Refused, play what there is and begin again. So a refusal by a grant that came to nothing, by a key that
    /// shares its cell, or by a table that has forgotten, costs one more request.</item>
    /// </list>
    /// </remarks>
    /// <returns>Null: playback has to decide. Nothing is in the log.</returns>
    private async ValueTask<TxOutcome?> AskAsync(List<TxObject> reads, CancellationToken cancellationToken)
    {
        if (_given.Options.Decisions != TransactionDecisions.Sequencer
            || _playback.Directory.Level < FeatureLevel.Decisions) return null;
        var streams = StreamsFor(CommitFlags.Decided, reads);
        var writes = _playback.Scopes.Commit(_writes, SpillList.Empty, streams);
        var scopes = _playback.Scopes.Reads(
            reads.Select(static read => (read.ReadSet, read.Hosted!.Cohort.Objects[0].Id)));
        if (writes.Length + scopes.Length > AskCall.MaxScopes) return null;
        var player = _objects.Exists(o => o.Hosted is not null && streams.Contains(o.Host.Entry.Id.Stream))
            ? _playback.Player
            : null;
        for (var asked = 0; asked < MaxAsks; asked++)
        {
            // 1.
            var (since, conflict) = await TakeSeenAsync(reads, cancellationToken);
            if (conflict is not null) return conflict;
            if (since is not { } tail || _playback.Calls.IsUndecided(tail.Epoch)) return null;

            // 2.
            var record = CommitFormat.Encode(
                CommitFlags.Decided, tail, reads.ConvertAll(static read => read.ReadSet), _writes, SpillList.Empty);
            if (record.Length > _playback.Calls.MaxRecordBytes) return null;
            var call = new AskCall(record, streams, _awaitsApplied ? player : null, player, _writes[0].Object)
            {
                Log = _given.Log,
                Since = tail,
                Reads = scopes,
                Writes = writes,
            };
            _playback.Calls.Send(call);
            var outcome = await call.WaitAsync(call.Task, cancellationToken);
            Count(call, outcome);
            if (call.End == AskEnd.None) return outcome;
            if (call.End == AskEnd.NotDecided) return null;
            if (Planted.Is("refusal-is-an-abort") && call is { End: AskEnd.Written, Refusal: { } refusal })
                return AbortOf(refusal, reads);

            // 3.
            await PlayAfterAsync(call.Refusal, cancellationToken);
        }

        return null;
    }

    private async ValueTask PlayAfterAsync(Refusal? refusal, CancellationToken cancellationToken)
    {
        // A caller that has gone is told so: another ask would leave it in doubt.
        cancellationToken.ThrowIfCancellationRequested();
        var player = _playback.Player;
        if (refusal is { Reason: RefusalReason.Written } written)
        {
            // The entry of which the record was refused is above the write, and is being played.
            await player.CatchUpAsync(_playback.Calls.AcknowledgedEnd, cancellationToken);
            if (player.Published.Seen?.Tail > written.Position) return;
        }

        // The refusal is an answer of the newest epoch, so that a cheap check is of that one too.
        await player.CatchUpAsync(cancellationToken);
    }

    /// <summary>Also where what was read is the same, up to a later tail.</summary>
    /// <returns>No tail and no conflict: none can be had.</returns>
    private async ValueTask<(LogPosition? Since, TxOutcome.Aborted? Conflict)> TakeSeenAsync(
        List<TxObject> reads, CancellationToken cancellationToken)
    {
        for (var synced = 0; ; synced++)
        {
            await RestartStoppedAsync(cancellationToken);
            ThrowIfGone();
            // The tail first: versions that are played meanwhile are compared too, and are above it. And who joined the
            // player is looked at last, since what was compared may be of then.
            var seen = _playback.Player.Published.Seen;
            if (FindConflict() is { } conflict) return (null, conflict);
            if (seen is not null && reads.TrueForAll(read => seen.Covers(read.Hosted!.Cohort)))
                return (seen.Tail, null);
            if (synced == MaxSyncs) return default;
            await _playback.Player.SyncAsync(cancellationToken);
        }
    }

    private static void Count(AskCall call, TxOutcome outcome) => TangoTelemetry.Asks.Add(1,
        new KeyValuePair<string, object?>("tango.outcome", call.End switch
        {
            AskEnd.Written => "written",
            AskEnd.TooOld => "too_old",
            AskEnd.NotDecided => "not_decided",
            AskEnd.PositionLost => "position_lost",
            _ => outcome is TxOutcome.InDoubt ? "in_doubt" : "committed",
        }));

    private static TxOutcome.Aborted AbortOf(Refusal refusal, List<TxObject> reads)
    {
        var host = (reads.Find(read => read.Host.Entry.Id.Stream == refusal.Read.Stream) ?? reads[0]).Host;
        return new TxOutcome.Aborted(
            AbortReason.Conflict, host.Entry.Id, host.Name, ObjectKey.None, new RecordVersion(refusal.Position, 0));
    }
}
