using Corfu;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using Tango.Runtime;

namespace Tango.Transactions;

/// <summary>Part of one object in a transaction: the reads, and the object's snapshot with the transaction's own writes
/// on top.</summary>
internal sealed class TxObject(ObjectHost host)
{
    private readonly HashSet<ObjectKey> _known = [];
    private readonly List<TxWrite> _notApplied = [];
    private CohortUse? _use;
    private TangoObject? _own;

    // Apply failed half-way through on _own: what it holds never existed (R17), so it is not shown and the transaction
    // cannot commit.
    private Exception? _failure;

    public ObjectHost Host { get; } = host;

    /// <summary>Null: the transaction has only written it, and it is not hosted or hosted for others.</summary>
    public HostedObject? Hosted { get; private set; } = host.Hosted;

    /// <summary>A keyless read conflicts with any write, so it covers all keyed ones (R18).</summary>
    public bool ReadsWhole { get; private set; }

    /// <summary>In the order of the reads: the set's own order depends on hashing.</summary>
    public List<ObjectKey> ReadKeys { get; } = [];

    public TxRead ReadSet => new(Host.Entry.Id, ReadsWhole ? null : ReadKeys);

    public bool IsBroken => _failure is not null;

    public bool HasReads => ReadsWhole || ReadKeys.Count > 0;

    /// <summary>Another handle of the same object; one of them may be write-only.</summary>
    public void Join(ObjectHost other) => Hosted ??= other.Hosted;

    /// <summary>The object stays hosted until the transaction ends: what it read is compared with its
    /// versions.</summary>
    public void Keep(CohortUse use)
    {
        Hosted = use.Hosted;
        if (_use is null) _use = use;
        else use.Dispose();
    }

    public void LetGo()
    {
        _use?.Dispose();
        _use = null;
    }

    public void AddRead(ObjectKey key)
    {
        if (key.IsNone) ReadsWhole = true;
        else if (key.IsList) foreach (var part in key.Parts) AddRead(part);
        else if (_known.Add(key)) ReadKeys.Add(key);
    }

    /// <summary>Remembers a write whose effect no read has asked for yet.</summary>
    public void Defer(TxWrite write) => _notApplied.Add(write);

    /// <summary>The object as the transaction sees it.</summary>
    public TangoObject View(PublishedViews snapshot)
    {
        if (_failure is not null)
            throw new TangoTransactionException($"An earlier write to '{Host.Name}' failed: {_failure.Message}");
        if (_notApplied.Count > 0)
        {
            var own = Own(snapshot);
            foreach (var write in _notApplied) Apply(own, write, null, ignoreRejection: true);
            _notApplied.Clear();
        }

        return _own ?? snapshot.Of(Hosted!).Require(Hosted!);
    }

    /// <summary>The transaction goes on with a newer snapshot, in which all that it has read is the same.</summary>
    /// <param name="writes">All of the object, in order.</param>
    public void MoveTo(IEnumerable<TxWrite> writes)
    {
        _own = null;
        _notApplied.Clear();
        _notApplied.AddRange(writes);
    }

    /// <summary>R16: the caller hears the result, or the rejection, that the write has on the snapshot.</summary>
    public void ApplyNow(PublishedViews snapshot, TxWrite write, ApplyResult? result)
    {
        View(snapshot);
        Apply(Own(snapshot), write, result, ignoreRejection: false);
    }

    /// <exception cref="TangoObjectStoppedException">Later writes of the object are not known here.</exception>
    public TxOutcome.Aborted? FindConflict(PublishedViews snapshot)
    {
        var hosted = Hosted!;
        if (hosted.Cohort.IsUnreadable)
        {
            // R22: while a cohort is loaded anew, its members stop being stopped before it becomes readable. The next
            // attempt reads what was loaded.
            return hosted.Stopped is { } stopped
                ? throw stopped.Told
                : new TxOutcome.Aborted(AbortReason.SnapshotTooOld, hosted.Id, hosted.Name, ObjectKey.None,
                    new RecordVersion(LogPosition.Zero, 0));
        }

        if (hosted.Versions.LastWriteEnd <= snapshot.End) return null;
        if (ReadsWhole) return Conflict(hosted, ObjectKey.None, snapshot);
        foreach (var key in ReadKeys)
        {
            if (Conflict(hosted, key, snapshot) is { } conflict) return conflict;
        }

        return null;
    }

    private static TxOutcome.Aborted? Conflict(HostedObject hosted, ObjectKey key, PublishedViews snapshot) =>
        hosted.Versions.TryFindConflict(!key.IsNone, key.Bytes, snapshot.End, out var conflict)
            ? new TxOutcome.Aborted(conflict.Reason, hosted.Id, hosted.Name, key, conflict.Version)
            : null;

    private TangoObject Own(PublishedViews snapshot) =>
        _own ??= snapshot.Of(Hosted!).Require(Hosted!).CloneView();

    private void Apply(TangoObject own, TxWrite write, ApplyResult? result, bool ignoreRejection)
    {
        try
        {
            ((ITangoView)own).Apply(write.Mutator.Number, write.Key.Memory, write.Arguments,
                new ApplyContext(result, LogPlace.Pending(write)));
        }
        catch (TangoRejectedException) when (ignoreRejection)
        {
            // R23: as in playback, it has no effect and does not undo the other writes.
        }
        catch (Exception e) when (e is not TangoRejectedException)
        {
            _failure = e;
            throw;
        }
    }
}
