using Corfu;

namespace Tango.Model;

/// <summary>
/// Objects opened and played together: one object, or one co-hosted group (R20). Commit records within a cohort are
/// decided from its own streams alone, so that a cohort opened late can catch up by itself.
/// </summary>
internal sealed class Cohort
{
    // Written by playback only, after the members are stopped; never reset.
    private volatile bool _isUnreadable;

    private readonly Func<DirectoryEntry, TangoObjectType?> _typeOf;

    // A member is loaded and played as the same type, whatever types the program registers meanwhile.
    private readonly Dictionary<ObjectId, TangoObjectType?> _types = [];

    // Until the cohort is played: what the directory names, members that are not born where its playback starts too.
    private IReadOnlyList<DirectoryEntry> _known;

    private long _joinedIn = long.MaxValue;

    // Replaced by playback only, which adds members behind those that there are.
    private volatile HostedObject[] _objects;

    /// <param name="members">As the directory names them, the first one first.</param>
    /// <param name="typeOf">Null: versions only, no view.</param>
    public Cohort(IReadOnlyList<DirectoryEntry> members, Func<DirectoryEntry, TangoObjectType?> typeOf)
    {
        (_known, _typeOf) = (members, typeOf);
        _objects = [.. members.Where(static member => member.IsBornBelow(LogPosition.Zero)).Select(NewMember)];
    }

    /// <summary>The members as of what is played. Its first one never changes.</summary>
    public IReadOnlyList<HostedObject> Objects => _objects;

    /// <summary>A member whose state is not known here: it was written, and is played without a view, for this program
    /// does not know its type.</summary>
    public HostedObject? Viewless => Array.Find(
        _objects, static member => member is { Type: null, IsInitial: false, IsRemoved: false });

    /// <summary>Playback only: hears of each member that joins.</summary>
    public Action<HostedObject>? MemberAdded { get; set; }

    /// <summary>Since the cohort's playback began here.</summary>
    public CohortTraffic Traffic { get; } = new();

    /// <summary>Playback only: everything below was applied to this cohort before the playback that it belongs to now;
    /// that one applies the rest.</summary>
    public LogPosition Start { get; private set; }

    /// <summary>
    /// R20: a record of the cohort's streams could not be read. From there on its versions are not known here, no more
    /// than those of objects that are not hosted. For all members: their transactions have no decision records.
    /// </summary>
    public bool IsUnreadable => _isUnreadable;

    /// <summary>The player's cycle in which the cohort joined last, with versions that reach to where that cycle
    /// stood.</summary>
    public long JoinedIn => Volatile.Read(ref _joinedIn);

    /// <summary>How long the cohort stays hosted.</summary>
    public CohortStay Stay { get; } = new();

    public HostedObject? Find(ObjectId id) => Array.Find(_objects, member => member.Id == id);

    public TangoObjectType? TypeOf(DirectoryEntry member)
    {
        if (!_types.TryGetValue(member.Id, out var type)) _types.Add(member.Id, type = _typeOf(member));
        return type;
    }

    /// <summary>Within a cycle of the player, before the cohort takes over what was played beside it.</summary>
    public void BeginJoin(long cycle) => Interlocked.Exchange(ref _joinedIn, cycle);

    /// <summary>Before anything is played: the members that a state of this end has, as far as they are
    /// known.</summary>
    public IReadOnlyList<CohortMember> MembersAt(LogPosition end) =>
    [
        .. _known.Where(member => member.IsBornBelow(end)).Select(member => new CohortMember(member, TypeOf(member))),
    ];

    /// <summary>Before anything is played.</summary>
    public void Know(IReadOnlyList<DirectoryEntry> members)
    {
        // None: the cohort was deleted long ago.
        if (members.Count > 0) _known = members;
    }

    /// <summary>Before anything is played.</summary>
    public void StartFrom(LoadedCohort loaded)
    {
        Start = loaded.End;
        Traffic.CheckpointSize = loaded.Size;
        _objects = [.. loaded.Members.Select(member => Find(member.Entry.Id) ?? NewMember(member.Entry))];
        for (var i = 0; i < _objects.Length; i++) _objects[i].StartFrom(loaded.Members[i]);
    }

    /// <summary>The same cohort, of which nothing is played yet.</summary>
    public Cohort Anew() => Anew(_typeOf);

    public Cohort Anew(Func<DirectoryEntry, TangoObjectType?> typeOf) =>
        new([.. _known.UnionBy(_objects.Select(static member => member.Entry), static entry => entry.Id)], typeOf);

    /// <summary>R20. Playback only: the record adds a member, which is empty there.</summary>
    /// <returns>Null: the cohort has it, or is deleted, and the directory does nothing either.</returns>
    public HostedObject? Join(DirectoryEntry member, RecordVersion version)
    {
        var first = _objects[0];
        if (first.Stopped is { IsDeletion: true } || Find(member.Id) is not null) return null;
        var joined = NewMember(
            member with { Group = first.Entry.Group, Created = version.Position, Birth = version.Position });
        joined.BeBorn(version);
        // R23: a part of the cohort's history is not known here.
        if (_isUnreadable) joined.Stop(first.Stopped!.Version, first.Stopped.InnerException!);
        _objects = [.. _objects, joined];
        MemberAdded?.Invoke(joined);
        return joined;
    }

    /// <summary>Goes on with what another playback has made of the same objects. R23: members that have not stopped
    /// stay as they are.</summary>
    /// <param name="position">Position of both playbacks.</param>
    public void TakeOver(Cohort other, LogPosition position)
    {
        Start = position;
        foreach (var played in other._objects)
        {
            var own = Find(played.Id);
            if (own is null)
            {
                own = new HostedObject(played.Entry, played.Type) { Cohort = this };
                _objects = [.. _objects, own];
            }

            own.TakeOver(played);
        }

        _isUnreadable = other._isUnreadable;
        Traffic.TakeOver(other.Traffic);
    }

    /// <summary>R23. Playback only: a record cannot be read, so all members end there.</summary>
    public void Stop(RecordVersion version, Exception reason)
    {
        foreach (var hosted in _objects) hosted.Stop(version, reason);
        _isUnreadable = true;
    }

    private HostedObject NewMember(DirectoryEntry entry) => new(entry, TypeOf(entry)) { Cohort = this };
}
