using System.Collections.Immutable;
using System.Diagnostics;
using Corfu;
using Tango.Calls;
using Tango.Records;
using Tango.Transactions;

namespace Tango;

public sealed partial class TangoTransaction
{
    // Far below TangoOptions.MaxQueuedCalls, so that a large transaction leaves room for the other callers.
    private const int MaxSpillsInFlight = 8;

    /// <summary>From the first spill to the outcome; zero if nothing was spilled.</summary>
    internal TimeSpan Spilling { get; private set; }

    private async ValueTask<TxOutcome> DecideAsync(CancellationToken cancellationToken)
    {
        using var activity = TangoTelemetry.Activities.StartActivity("tango.transaction.end");
        var began = _playback.Time.GetTimestamp();
        try
        {
            if (_isDropped || _joined > 0) Outcome = FindConflictOrThrow();
            else
                Outcome = _writes.Count == 0
                    ? await DecideReadOnlyAsync(cancellationToken)
                    : await CommitAsync(cancellationToken);
        }
        finally
        {
            LetGo();
        }

        if (Outcome is TxOutcome.Committed) _onCommit?.ForEach(static action => action());
        TangoTelemetry.TransactionTime.Record(_playback.Time.GetElapsedTime(began).TotalSeconds);
        Tell(Outcome, activity);
        return Outcome;
    }

    private static void Tell(TxOutcome outcome, Activity? activity)
    {
        var tags = new TagList
        {
            {
                "tango.outcome", outcome switch
                {
                    TxOutcome.Committed => "committed",
                    TxOutcome.Aborted => "aborted",
                    _ => "in_doubt",
                }
            },
        };
        // The object that transactions lose to is the one to divide.
        if (outcome is TxOutcome.Aborted aborted)
        {
            tags.Add("tango.object", TangoTelemetry.Objects.Of(aborted.ObjectName));
            tags.Add("tango.reason", aborted.Reason.ToString());
        }

        TangoTelemetry.Transactions.Add(1, tags);
        if (activity is null) return;
        foreach (var (key, value) in tags) activity.SetTag(key, value);
        if (outcome is not TxOutcome.Committed) activity.SetStatus(ActivityStatusCode.Error, outcome.GetType().Name);
    }

    /// <summary>Tango 3.2, Read-only transactions: no record; the check makes the snapshot's validity
    /// linearizable.</summary>
    private async ValueTask<TxOutcome> DecideReadOnlyAsync(CancellationToken cancellationToken)
    {
        if (_snapshot is null) return new TxOutcome.Committed(new RecordVersion(_playback.Player.Published.End, 0));
        if (_isStale) return new TxOutcome.Committed(new RecordVersion(_snapshot.End, 0));
        await _playback.Player.SyncAsync(cancellationToken);
        await RestartStoppedAsync(cancellationToken);
        var end = _playback.Player.Published.End;
        return FindConflict() ?? (TxOutcome)new TxOutcome.Committed(new RecordVersion(end, 0));
    }

    /// <summary>Tango 3.2 and 4.1: the transaction's end becomes one commit record, which playback decides.</summary>
    /// <remarks>
    /// <list type="number">
    /// <item>Refuse what cannot commit: a write that failed, an object that has stopped or was deleted.</item>
    /// <item>Abort early: a conflict now is a conflict at any later position, and no record is appended.</item>
    /// <item>Let the sequencer decide, where that is asked for: see <see cref="AskAsync"/>. The other steps are for
    /// decisions by playback.</item>
    /// <item>Choose the streams that the record goes to, and whether its outcome has to be published (R20).</item>
    /// <item>Encode the record. Writes that do not fit are spilled into the log first (R19). Until here the
    /// transaction can be dropped.</item>
    /// <item>Send the record, and wait for its outcome: durable without reads, played with reads.</item>
    /// </list>
    /// </remarks>
    private async ValueTask<TxOutcome> CommitAsync(CancellationToken cancellationToken)
    {
        // 1.
        if (_objects.Find(static o => o.IsBroken) is { } broken)
            throw new TangoTransactionException(
                $"A write to '{broken.Host.Name}' failed while it was applied to the transaction's snapshot");
        // A transaction that only writes has met no stopped object before.
        await RestartStoppedAsync(cancellationToken);
        ThrowIfGone();

        // 2.
        if (FindConflict() is { } early) return early;

        // 3.
        var reads = _objects.FindAll(static o => o.HasReads);
        if (reads.Count > 0 && await AskAsync(reads, cancellationToken) is { } asked) return asked;

        // 4.
        var flags = reads.Count > 0 && !IsOneCohort() ? CommitFlags.NeedsDecision : CommitFlags.None;
        var streams = StreamsFor(flags, reads);
        // Before anything is spilled: no log takes the commit record.
        if (streams.Length > EntryLimits.MaxStreams)
            throw TangoTooLargeException.OfObjects(streams.Length, EntryLimits.MaxStreams);
        _playback.Player.ThrowIfFailed();

        // 5.
        var started = _given.Time.GetTimestamp();
        var (record, spills) = await EncodeAsync(flags, reads, cancellationToken);

        // 6.
        var call = new CommitCall(record, streams, reads.Count > 0 ? _playback.Player : null, spills,
            _playback.Directory.MaxSpan, _writes[0].Object)
        {
            Log = _given.Log,
            Writes = _playback.Scopes.Commit(spills.IsEmpty ? _writes : [], spills, streams),
        };
        _playback.Calls.Send(call);
        var outcome = await call.WaitAsync(call.Task, cancellationToken);
        if (!spills.IsEmpty) Spilling = _given.Time.GetElapsedTime(started);
        return outcome;
    }

    /// <exception cref="TangoObjectStoppedException">An object has stopped, or was deleted.</exception>
    /// <exception cref="TangoObjectDeletedException">An object that is only written was deleted.</exception>
    private void ThrowIfGone()
    {
        foreach (var used in _objects)
        {
            if (used.Hosted is { } hosted && _playback.Player.Published.Of(hosted).Stopped is { } stopped)
                throw stopped.Told;
            if (used.Hosted is null && _playback.Directory.IsDeleted(used.Host.Entry.Id))
                throw new TangoObjectDeletedException(used.Host.Name, used.Host.Entry.Id);
        }
    }

    private async ValueTask<(ReadOnlyMemory<byte> Record, SpillList Spills)> EncodeAsync(
        CommitFlags flags, List<TxObject> reads, CancellationToken cancellationToken)
    {
        var snapshotEnd = _snapshot?.End ?? LogPosition.Zero;
        var readSet = reads.ConvertAll(static read => read.ReadSet);
        var whole = CommitFormat.Encode(flags, snapshotEnd, readSet, _writes, SpillList.Empty);
        if (whole.Length <= _playback.Calls.MaxRecordBytes) return (whole, SpillList.Empty);
        var spills = await SpillAsync(cancellationToken);
        // Spills alone have no effect.
        cancellationToken.ThrowIfCancellationRequested();
        return (CommitFormat.Encode(flags, snapshotEnd, readSet, [], spills), spills);
    }

    /// <summary>R19: all of it is in the log before the commit record that names it is written.</summary>
    private async ValueTask<SpillList> SpillAsync(CancellationToken cancellationToken)
    {
        var spills = SpillFormat.Encode(_writes, _playback.Calls.MaxRecordBytes);
        var written = ImmutableArray.CreateBuilder<SpillReference>(spills.Count);
        var inFlight = new Queue<SpillCall>();
        try
        {
            foreach (var (record, objects) in spills)
            {
                if (inFlight.Count == MaxSpillsInFlight) await TakeWrittenAsync();
                var call = new SpillCall(record, objects);
                _playback.Calls.Send(call);
                inFlight.Enqueue(call);
            }

            while (inFlight.Count > 0) await TakeWrittenAsync();
            return new SpillList(written.MoveToImmutable());
        }
        finally
        {
            foreach (var call in inFlight) call.Forget();
        }

        async ValueTask TakeWrittenAsync()
        {
            var call = inFlight.Dequeue();
            var version = await call.WaitAsync(call.Task, cancellationToken);
            written.Add(new SpillReference(version, call.Objects));
        }
    }

    private TxOutcome.Aborted? FindConflict()
    {
        foreach (var read in _objects)
        {
            if (read.HasReads && read.FindConflict(_snapshot!) is { } conflict) return conflict;
        }

        return null;
    }

    /// <summary>R20: a runtime that hosts one of the objects hosts them all and needs no decision record.</summary>
    private bool IsOneCohort()
    {
        var cohort = _objects[0].Hosted?.Cohort;
        return cohort is not null && _objects.TrueForAll(o => o.Hosted?.Cohort == cohort);
    }

    /// <summary>R20: hosts of the read set must meet a record that they may have to decide for others, so it goes to
    /// those streams too.</summary>
    private ImmutableArray<StreamId> StreamsFor(CommitFlags flags, List<TxObject> reads)
    {
        var streams = new SortedSet<StreamId>();
        foreach (var write in _writes) streams.Add(write.Object.Id.Stream);
        if (flags.HasFlag(CommitFlags.NeedsDecision))
            streams.UnionWith(reads.Select(static read => read.Host.Entry.Id.Stream));
        return [.. streams];
    }
}
