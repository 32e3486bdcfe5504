using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Playback;

// Everything here runs inside a cycle, one at a time, synchronously from one entry to the next.
internal sealed partial class Player
{
    private readonly Dictionary<ObjectId, HostedObject> _objects = [];
    private readonly List<HostedObject> _slots = [];
    private readonly List<HostedUnit> _catchingUp = [];
    private readonly List<PendingCall> _answerable = [];

    // Everything below is applied to every unit that is not catching up.
    private LogPosition _applied;
    private bool _slotsChanged;

    // An entry whose records are not all applied: it waits for a decision, or a cycle failed while it did. Nothing is published meanwhile,
    // since views are shown at whole entries only.
    private LogEntry? _entry;
    private EntryProgress _progress;

    // Set in a player that plays versions only, to learn one decision; it answers nobody and publishes nothing.
    private DecisionProbe? _probe;

    private void Attach(HostedUnit unit)
    {
        if (_objects.ContainsKey(unit.Objects[0].Id)) return;
        _catchingUp.Add(unit);
        foreach (var hosted in unit.Objects)
        {
            if (hosted.Slot < 0)
            {
                hosted.Slot = _slots.Count;
                _slots.Add(hosted);
            }

            _objects.Add(hosted.Id, hosted);
            _cursor.Add(hosted.Id.Stream, LogPosition.Zero);
            _scout?.Add(hosted.Id.Stream, LogPosition.Zero);
        }

        _slotsChanged = true;
    }

    /// <summary>
    /// R22, R23: a history that cannot be played fails its opener, not the objects that are past it. Such a unit goes on from where it got to
    /// when it is attached again.
    /// </summary>
    private void DropCatchingUp()
    {
        if (_catchingUp.Count == 0 || _entry is not null) return;
        foreach (var unit in _catchingUp)
        {
            foreach (var hosted in unit.Objects) _objects.Remove(hosted.Id);
        }

        _catchingUp.Clear();
        _scout = null;
        _cursor = context.OpenCursor();
        foreach (var hosted in _slots)
        {
            if (_objects.ContainsKey(hosted.Id)) _cursor.Add(hosted.Id.Stream, _applied);
        }
    }

    private bool Wants(HostedUnit unit, LogPosition position) =>
        unit.IsCatchingUp ? position >= unit.PlayedTo : position >= _applied;

    private async ValueTask ApplyEntryAsync(LogEntry entry)
    {
        _entry = entry;
        while (ApplyRecords(entry, ref _progress) is { } undecided) await LearnDecisionAsync(entry, undecided);
        if (_progress.Calls is { } calls) _answerable.AddRange(calls);
        _entry = null;
        _progress = default;
        foreach (var unit in _catchingUp) unit.PlayedTo = LogPosition.Max(unit.PlayedTo, entry.Position.Next);
        _applied = LogPosition.Max(_applied, entry.Position.Next);
    }

    /// <returns>The commit record at which playback must wait for a decision (R20); null at the end of the entry.</returns>
    private RecordVersion? ApplyRecords(LogEntry entry, ref EntryProgress progress)
    {
        try
        {
            var reader = new MessagePackReader(entry.Payload);
            var header = EntryFormat.ReadHeader(ref reader);
            if (progress.Next == 0) (progress.IsOwn, progress.Calls) = _probe is null ? context.Calls.TakePlayed(header) : default;
            for (var i = 0; i < progress.Next; i++) reader.Skip();
            for (; progress.Next < header.Records; progress.Next++)
            {
                var version = new RecordVersion(entry.Position, progress.Next);
                if (!TryApplyRecord(ref reader, version, progress)) return version;
                // R20: a probe ends at its commit record. The rest of the entry may need decisions of its own, which need this one.
                if (_probe is { IsFound: true }) return null;
            }

            TangoTelemetry.Records.Add(header.Records);
        }
        catch (TangoFormatException e)
        {
            StopObjectsOf(entry, e);
            foreach (var call in progress.Calls ?? []) call.OnInDoubt(entry.Position, "The record's entry cannot be read", e);
        }

        return null;
    }

    /// <returns>False: a decision is needed first; nothing has been done.</returns>
    private bool TryApplyRecord(ref MessagePackReader reader, RecordVersion version, in EntryProgress progress)
    {
        var call = progress.Calls?[version.Index];
        var elements = reader.ReadArrayHeader();
        var kind = elements > 0 ? (RecordKind)reader.ReadInt32() : 0;
        switch (kind)
        {
            case RecordKind.Update when elements == RecordFormat.UpdateLength:
                ApplyUpdate(CallRecord.Read(ref reader), version, call);
                return true;
            case RecordKind.Commit when elements == RecordFormat.CommitLength:
                return TryApplyCommit(ref reader, version, call, progress.IsOwn);
            case RecordKind.Decision when elements == RecordFormat.DecisionLength:
                ApplyDecision(DecisionFormat.Read(ref reader), version);
                return true;
            default:
                throw new TangoFormatException($"Record {version} has kind {(int)kind} with {elements} elements, which is not known here");
        }
    }

    private void ApplyUpdate(scoped in CallRecord update, RecordVersion version, PendingCall? call)
    {
        if (!_objects.TryGetValue(update.Object, out var hosted) || !Wants(hosted.Unit, version.Position)) return;
        var rejection = Apply(hosted, update, version, call?.Result);
        call?.OnApplied(version, rejection, hosted.Stopped);
    }

    private TangoRejectedException? Apply(HostedObject hosted, scoped in CallRecord update, RecordVersion version, ApplyResult? result)
    {
        var wasStopped = hosted.Stopped is not null;
        var rejection = hosted.Apply(update, version, result);
        if (!wasStopped && hosted.Stopped is not null) ReportStopped(hosted);
        return rejection;
    }

    /// <summary>R23: an entry that cannot be read could have concerned any hosted object in whose stream it stands.</summary>
    private void StopObjectsOf(LogEntry entry, Exception reason)
    {
        foreach (var header in entry.Streams)
        {
            if (!_objects.TryGetValue(new ObjectId(header.Stream.Value), out var hosted) || !Wants(hosted.Unit, entry.Position)) continue;
            if (hosted.Stopped is not null) continue;
            hosted.Stop(new RecordVersion(entry.Position, 0), reason);
            ReportStopped(hosted);
        }
    }

    private void ReportStopped(HostedObject hosted)
    {
        TangoTelemetry.ObjectsStopped.Add(1);
        context.Logger.LogError(hosted.Stopped, "Object {Name} ({Id}) stopped", hosted.Name, hosted.Id);
    }

    /// <summary>Shows readers everything applied so far, then answers the callers whose records are in it.</summary>
    private void Publish()
    {
        var old = Published;
        FrozenView[]? views = _slotsChanged ? Grown(old.Views) : null;
        foreach (var hosted in _slots)
        {
            if (!hosted.IsDirty || hosted.Unit.IsCatchingUp) continue;
            views ??= [.. old.Views];
            views[hosted.Slot] = hosted.Publish();
        }

        _slotsChanged = false;
        if (views is not null || _applied > old.End) Volatile.Write(ref _published, new PublishedViews(_applied, views ?? old.Views));
        foreach (var call in _answerable) call.OnPublished();
        _answerable.Clear();
    }

    private FrozenView[] Grown(FrozenView[] views)
    {
        var grown = new FrozenView[_slots.Count];
        views.CopyTo(grown, 0);
        return grown;
    }

    /// <summary>How far playback is in an entry.</summary>
    private struct EntryProgress
    {
        public int Next;
        public bool IsOwn;
        public PendingCall[]? Calls;
    }
}
