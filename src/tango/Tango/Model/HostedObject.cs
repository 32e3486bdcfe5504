using Corfu;
using Tango.Records;

namespace Tango.Model;

/// <summary>View and versions of one object. Only playback touches it, except <see cref="Versions"/>, which has a lock
/// of its own.</summary>
/// <param name="type">Null: versions only, no view; enough to decide transactions.</param>
internal sealed class HostedObject(DirectoryEntry entry, TangoObjectType? type)
{
    // The view that Apply changes next. While _isPublished, readers may hold it: the next change is made on a copy
    // (R17).
    private TangoObject? _view = type?.Create();
    private bool _isPublished;
    private volatile TangoObjectStoppedException? _stopped;
    private volatile bool _hasLeases;

    // Null until the player hosts the object.
    private List<HostedObject>? _changed;

    // Playback alone writes it.
    private long _updates;

    public ObjectId Id { get; } = entry.Id;

    public string Name { get; } = entry.Name;

    public DirectoryEntry Entry { get; } = entry;

    /// <summary>Null: versions only, no view.</summary>
    public TangoObjectType? Type { get; private set; } = type;

    public VersionTable Versions { get; private set; } = new(entry.VersionCapacity);

    /// <summary>No record was written to it: its state is the one with which its type begins.</summary>
    public bool IsInitial =>
        Entry.Origin is null && Versions.LastWriteEnd == (Entry.Birth?.Next ?? LogPosition.Zero);

    /// <summary>R20: the object was deleted out of its cohort, which goes on. Invariant: its versions say so for ever,
    /// and no record changes it any more.</summary>
    public bool IsRemoved => _stopped is { IsDeletion: true } && Cohort.Objects[0] != this;

    public bool HoldsMutableValues => Type is { HoldsMutableValues: true };

    /// <summary>Index in the published views; set once when the cohort is hosted by the player.</summary>
    public int Slot { get; private set; } = -1;

    public Cohort Cohort { get; set; } = null!;

    /// <summary>The object had leases as of the last cycle. The watch of leases writes it.</summary>
    public bool HasLeases
    {
        get => _hasLeases;
        set => _hasLeases = value;
    }

    /// <summary>Hears of the calls that are applied from now on. Playback only.</summary>
    public ICallObserver? Observer { get; set; }

    /// <summary>Gathers what is emitted by the calls that are applied from now on; null: the object has no observer.
    /// Playback only.</summary>
    public GatheredEffects? Effects { get; set; }

    /// <summary>Playback only: counts the states that took the place of a view, so that the calls between were not
    /// applied here.</summary>
    public int Loads { get; private set; }

    /// <summary>Playback only: changed since it was last published.</summary>
    public bool IsDirty { get; private set; } = true;

    public TangoObjectStoppedException? Stopped => _stopped;

    /// <summary>Calls that were applied here.</summary>
    public long Updates => Volatile.Read(ref _updates);

    /// <summary>Playback only: the view as of the last record applied.</summary>
    public TangoObject? CurrentView => _view;

    /// <summary>Within a cycle of the player, which shows the object from now on.</summary>
    /// <param name="changed">Gets the object whenever it becomes dirty.</param>
    public void ShowAt(int slot, List<HostedObject> changed)
    {
        (Slot, _changed) = (slot, changed);
        if (IsDirty) changed.Add(this);
    }

    /// <summary>R18: the record writes the new member as a whole, so that transactions with older snapshots do not
    /// read it.</summary>
    public void BeBorn(RecordVersion version) => Versions.WriteWhole(version);

    /// <summary>Before anything is played.</summary>
    public void StartFrom(LoadedObject loaded)
    {
        (_view, Versions) = (loaded.View, loaded.Versions);
        if (loaded.Removed is { } removed) _stopped = Deletion(removed);
    }

    /// <summary>Within a cycle of the player: for an object that is open for the first time, has stopped, or gets a
    /// view.</summary>
    public void TakeOver(HostedObject other)
    {
        var getsView = Type is null && other.Type is not null;
        if (Slot >= 0 && _stopped is null && !getsView) return;
        Type ??= other.Type;
        var stopped = other._stopped;
        _stopped = stopped is not null && stopped.Version == _stopped?.Version ? stopped.Again() : stopped;
        Versions = other.Versions;
        Volatile.Write(ref _updates, _updates + other._updates);
        if (!Planted.Is("rebuilt-keeps-its-view") || Slot < 0) _view = other._view;
        _isPublished = false;
        Loads++;
        MarkDirty();
    }

    /// <returns>The declared rejection, or null.</returns>
    /// <remarks>Errors of the process are no errors of the object and are passed on.</remarks>
    /// <param name="place">Place of the call; that of a spilled one is not its commit record's.</param>
    /// <param name="versionAge">R18: the log's.</param>
    public TangoRejectedException? Apply(
        scoped in CallRecord call, RecordVersion version, LogPlace place, ApplyResult? result, long versionAge)
    {
        // The caller of this write had not played the removal.
        if (IsRemoved && !(Planted.Is("removed-member-still-written") && Cohort.Start.Offset % 2 != 0)) return null;
        Versions.Write(call, version, versionAge);
        Volatile.Write(ref _updates, _updates + 1);
        if (Id != ObjectId.Directory || !TangoDirectory.FollowsFromCheckpoints(call.Mutator))
            Cohort.Traffic.Count(call.Key.Length + call.KeyList.Length + call.Arguments.Length);
        MarkDirty();
        if (_stopped is not null || _view is null) return null;
        if (_isPublished)
        {
            _view = _view.CloneView();
            _isPublished = false;
        }

        try
        {
            var context = new ApplyContext(result, place, version, Effects?.Begin());
            ((ITangoView)_view).Apply(call.Mutator, call.Key, call.Arguments, context);
            Effects?.Keep(this, version);
            return null;
        }
        catch (TangoRejectedException rejection)
        {
            return rejection;
        }
        catch (Exception e) when (!TangoPlaybackFailedException.IsReason(e))
        {
            Stop(version, e);
            return null;
        }
    }

    /// <summary>R23: this object ends here, others go on. While its records can be read its versions are still kept, so
    /// that transactions that read it can be decided.</summary>
    public void Stop(RecordVersion version, Exception reason)
    {
        MarkDirty();
        _stopped ??= TangoObjectStoppedException.At(version, Name, Id, reason);
    }

    /// <summary>The object ends here for every runtime: the record writes it as a whole (R18), so that transactions
    /// that read it before are decided alike. Nothing else is kept of it.</summary>
    public void Delete(RecordVersion version)
    {
        if (_stopped is { IsDeletion: true }) return;
        Versions.WriteWhole(version);
        MarkDirty();
        if (Planted.Is("deleted-is-served")) return;
        _stopped = Deletion(version);
        _view = null;
    }

    public FrozenView Publish()
    {
        IsDirty = false;
        _isPublished = true;
        return new FrozenView(this, _view, Versions.LastWriteEnd, _stopped);
    }

    private TangoObjectStoppedException Deletion(RecordVersion version) =>
        TangoObjectStoppedException.At(version, Name, Id, new TangoObjectDeletedException(Name, Id));

    private void MarkDirty()
    {
        if (IsDirty) return;
        IsDirty = true;
        _changed?.Add(this);
    }
}
