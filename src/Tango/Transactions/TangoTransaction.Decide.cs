using System.Collections.Immutable;
using Corfu.Protocol;
using Tango.Calls;
using Tango.Records;
using Tango.Runtime;
using Tango.Transactions;

namespace Tango;

public sealed partial class TangoTransaction
{
    private async ValueTask<TxOutcome> DecideAsync(CancellationToken cancellationToken)
    {
        using var activity = TangoTelemetry.Activities.StartActivity("tango.transaction.end");
        Outcome = _writes.Count == 0
            ? await DecideReadOnlyAsync(cancellationToken)
            : await CommitAsync(cancellationToken);
        TangoTelemetry.Transactions.Add(1, new KeyValuePair<string, object?>("outcome", Outcome switch
        {
            TxOutcome.Committed => "committed",
            TxOutcome.Aborted => "aborted",
            _ => "in_doubt",
        }));
        return Outcome;
    }

    /// <summary>Tango 3.2, Read-only transactions: no record; the check makes the snapshot's validity
    /// linearizable.</summary>
    private async ValueTask<TxOutcome> DecideReadOnlyAsync(CancellationToken cancellationToken)
    {
        if (_snapshot is null) return new TxOutcome.Committed(new RecordVersion(_runtime.Player.Published.End, 0));
        if (_options.StaleSnapshot) return new TxOutcome.Committed(new RecordVersion(_snapshot.End, 0));
        await _runtime.Player.SyncAsync(cancellationToken);
        var end = _runtime.Player.Published.End;
        return FindConflict() ?? (TxOutcome)new TxOutcome.Committed(new RecordVersion(end, 0));
    }

    private async ValueTask<TxOutcome> CommitAsync(CancellationToken cancellationToken)
    {
        if (_objects.Find(static o => o.IsBroken) is { } broken)
            throw new TangoTransactionException(
                $"A write to '{broken.Host.Name}' failed while it was applied to the transaction's snapshot");
        foreach (var used in _objects)
        {
            if (used.Host.Hosted is { } hosted && _runtime.Player.Published.Of(hosted).Stopped is { } stopped)
                throw stopped;
        }

        var reads = _objects.FindAll(static o => o.HasReads);
        // A conflict now is a conflict at any later position: no need to append a record that must abort.
        if (FindConflict() is { } early) return early;
        var flags = reads.Count > 0 && !IsOneUnit() ? CommitFlags.NeedsDecision : CommitFlags.None;
        _runtime.Player.ThrowIfFailed();
        var record = CommitFormat.Encode(flags, _snapshot?.End ?? LogPosition.Zero, reads, _writes);
        var call = new CommitCall(record, StreamsFor(flags, reads), needsPlayback: reads.Count > 0);
        _runtime.Calls.Send(call);
        return await CallWaiter.WaitAsync(call, call.Task, cancellationToken);
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
    private bool IsOneUnit()
    {
        var unit = _objects[0].Host.Hosted?.Unit;
        return unit is not null && _objects.TrueForAll(o => o.Host.Hosted?.Unit == unit);
    }

    /// <summary>R20: hosts of the read set must meet a record that they may have to decide for others, so it goes to
    /// those streams too.</summary>
    private ImmutableArray<StreamId> StreamsFor(CommitFlags flags, List<TxObject> reads)
    {
        var streams = new SortedSet<StreamId>();
        foreach (var write in _writes) streams.Add(write.Host.Entry.Id.Stream);
        if (flags.HasFlag(CommitFlags.NeedsDecision))
            streams.UnionWith(reads.Select(static read => read.Host.Entry.Id.Stream));
        return [.. streams];
    }
}
