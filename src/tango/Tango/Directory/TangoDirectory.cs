using System.Buffers;
using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Records;

namespace Tango;

/// <summary>
/// The object that names all others (Tango 3.2, Naming): fixed id, ids handed out in log order, groups whose members
/// come and go (R20). Its code is written by hand, since the generator's output cannot be used in this assembly.
/// </summary>
internal sealed partial class TangoDirectory : TangoObject, ITangoObject<TangoDirectory>
{
    /// <summary>R18: a parameter of the format, not of the runtime.</summary>
    public const int OwnVersionCapacity = 1024;

    public const int MaxNameLength = 512;
    public const int MaxGroupMembers = 256;

    /// <summary>R19: the span of new logs, and of logs without objects, in which nothing is spilled.</summary>
    public const long DefaultMaxSpan = 16_384;

    /// <summary>R18: as <see cref="DefaultMaxSpan"/>.</summary>
    public const long DefaultVersionAge = 16 * DefaultMaxSpan;

    private static readonly TangoObjectType s_type = TypeFor(FeatureLevel.Newest);

    // The highest feature level that the code knows: <see cref="FeatureLevel.Newest"/>, but for tests of newer code.
    private readonly int _newestLevel;

    private ImmutableSortedDictionary<string, DirectoryEntry> _objects =
        ImmutableSortedDictionary.Create<string, DirectoryEntry>(StringComparer.Ordinal);

    private ImmutableSortedDictionary<string, ImmutableArray<DirectoryEntry>> _groups =
        ImmutableSortedDictionary.Create<string, ImmutableArray<DirectoryEntry>>(StringComparer.Ordinal);

    // The same entries, and as in _groups those of removed members.
    private ImmutableSortedDictionary<ObjectId, DirectoryEntry> _byId =
        ImmutableSortedDictionary<ObjectId, DirectoryEntry>.Empty;

    // <= ObjectId.EndOfUser: the ids are streams, and those from there on have other uses.
    private ulong _nextId = ObjectId.FirstUser.Value;

    // <= _newestLevel, and never falls.
    private int _level = FeatureLevel.First;
    private long _maxSpan = DefaultMaxSpan;
    private long _versionAge = DefaultVersionAge;
    private TrimClaims _claims = TrimClaims.None;

    public TangoDirectory(int newestLevel = FeatureLevel.Newest) => _newestLevel = newestLevel;

    public static DirectoryEntry OwnEntry { get; } =
        new(ObjectId.Directory, "tango/directory", s_type.Name, null, OwnVersionCapacity);

    static TangoObjectType ITangoObject<TangoDirectory>.ObjectType => s_type;

    public static TangoObjectType Type => s_type;

    /// <summary>The type for code that knows the feature levels up to this one.</summary>
    public static TangoObjectType TypeFor(int newestLevel) =>
        new("tango-directory", () => new TangoDirectory(newestLevel), static _ => { }, Mutators.All);

    /// <summary>On a view: what may be written into the log.</summary>
    public int Level => _level;

    /// <summary>On a view: the longest way of a transaction's spilled writes to its commit record, in positions
    /// (R19). Fixed for the log.</summary>
    public long MaxSpan => _maxSpan;

    /// <summary>On a view: so many positions below an object's newest write its versions are kept (R18). Fixed for the
    /// log.</summary>
    public long VersionAge => _versionAge;

    /// <summary>On a view: the trim point and what holds it back.</summary>
    public TrimClaims Claims => _claims;

    /// <summary>On a view: no object was ever created, so that no older code can be hurt by a higher level.</summary>
    public bool IsUntouched => _nextId == ObjectId.FirstUser.Value && _level == FeatureLevel.First;

    /// <summary>On a view: the objects that there are, by name.</summary>
    public ImmutableArray<DirectoryEntry> Entries => [.. _objects.Values];

    /// <summary>On a view: the object that has the name.</summary>
    public DirectoryEntry? Find(string name) => _objects.GetValueOrDefault(name);

    /// <summary>On a view: the entries of the object's group, removed members too, or of the object alone; those of a
    /// deleted cohort while history from before its deletion may be needed.</summary>
    public IReadOnlyList<DirectoryEntry> GroupOf(ObjectId id)
    {
        if (id == ObjectId.Directory) return [OwnEntry];
        if (_byId.TryGetValue(id, out var entry)) return entry.Group is null ? [entry] : _groups[entry.Group];
        return _claims.Deleted.Values.Select(static deleted => deleted.Members)
            .FirstOrDefault(members => members.Any(member => member.Id == id), []);
    }

    /// <summary>On a view: whether the object is known to be deleted before the position. Its id is not given again.
    /// Of a deletion that is forgotten only this is known: it stood below what is released.</summary>
    public bool IsDeletedBefore(ObjectId id, LogPosition position)
    {
        if (_byId.TryGetValue(id, out var entry)) return entry.Removed < position;
        var isGiven = id.CompareTo(ObjectId.FirstUser) >= 0 && id.Value < _nextId;
        if (!isGiven || PendingOf(id) is not null) return false;
        if (position < _claims.Released) return false;
        return !_claims.Deleted.Values.Any(
            deleted => deleted.At >= position && deleted.Members.Any(member => member.Id == id));
    }

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        var before = _claims;
        // A program without a checkpoint plays the directory from the log's beginning: holes of its stream that were
        // closed may stand below its first record.
        if (!_claims.Cohorts.ContainsKey(ObjectId.Directory))
            _claims = _claims.Create(ObjectId.Directory, LogPosition.Zero);
        try
        {
            var reader = new MessagePackReader(arguments);
            if (Mutators.IsAboutNames(mutator)) ApplyToNames(mutator, ref reader, context);
            else if (Mutators.IsAboutMembers(mutator)) ApplyToMembers(mutator, ref reader, context);
            else if (Mutators.IsAboutClaims(mutator)) ApplyToClaims(mutator, ref reader, context);
            else throw new TangoUnknownRecordException(s_type.Name, mutator);
        }
        catch
        {
            // A refused record changes nothing.
            _claims = before;
            throw;
        }
    }

    private void ApplyToNames(int mutator, ref MessagePackReader reader, in ApplyContext context)
    {
        switch (mutator)
        {
            case Mutators.Create:
                {
                    var (begin, group, members) = DirectoryFormat.ReadCreate(ref reader);
                    context.Return(ApplyCreate(begin, group, members, context.Position));
                    break;
                }

            case Mutators.RaiseLevel:
                reader.ReadArrayHeader(1);
                RaiseTo(reader.ReadInt32());
                context.Return(_level);
                break;
            case Mutators.CreateFork:
                {
                    var (fork, origin, lease) = DirectoryFormat.ReadFork(ref reader);
                    context.Return(ApplyCreateFork(fork, origin, lease, context.Position));
                    break;
                }

            case Mutators.Delete:
                reader.ReadArrayHeader(1);
                ApplyDelete(new ObjectId(reader.ReadUInt64()), context.Position);
                break;
            case Mutators.Rename:
                reader.ReadArrayHeader(3);
                ApplyRename(new ObjectId(reader.ReadUInt64()), DirectoryFormat.ReadText(ref reader),
                    DirectoryFormat.ReadText(ref reader), context.Position);
                break;
        }
    }

    private void ApplyToClaims(int mutator, ref MessagePackReader reader, in ApplyContext context)
    {
        switch (mutator)
        {
            case Mutators.Checkpointed:
                {
                    reader.ReadArrayHeader(ClaimFormat.CheckpointedLength);
                    var cohort = new ObjectId(reader.ReadUInt64());
                    var (end, forget) =
                        (RecordFormat.ReadPosition(ref reader), RecordFormat.ReadPosition(ref reader));
                    var lowest = ClaimFormat.ReadOptional(ref reader);
                    context.Return(ApplyCheckpointed(cohort, end, forget, lowest, context.Position));
                    break;
                }

            case Mutators.Release:
                reader.ReadArrayHeader(1);
                _claims = _claims.Release(RecordFormat.ReadPosition(ref reader), context.Position);
                ForgetPendingBelow(_claims.Released, context.Position);
                context.Return(_claims.Released);
                break;
            case Mutators.Hold:
                {
                    reader.ReadArrayHeader(3);
                    var name = DirectoryFormat.ReadText(ref reader);
                    var position = RecordFormat.ReadPosition(ref reader);
                    (_claims, var version) = _claims.Hold(name, position, ClaimFormat.ReadDuration(ref reader));
                    context.Return(version);
                    break;
                }

            case Mutators.Expire:
                reader.ReadArrayHeader(2);
                _claims = _claims.Expire(DirectoryFormat.ReadText(ref reader), reader.ReadInt64());
                break;
            case Mutators.Retain:
                _claims = _claims with { Retention = ClaimFormat.ReadRetention(ref reader) };
                break;
            case Mutators.Declare:
                {
                    var (stream, claim) = ClaimFormat.ReadStream(ref reader);
                    _claims = _claims.Declare(stream, claim);
                    break;
                }
        }
    }

    /// <summary>Whether a call deletes a cohort or a member; told by its bytes alone, where the directory is not
    /// played.</summary>
    /// <param name="id">A cohort's is its first member's.</param>
    /// <exception cref="TangoFormatException">The arguments of the call cannot be read.</exception>
    public static bool IsDeletion(scoped in CallRecord call, out ObjectId id)
    {
        id = default;
        if (call.Object != ObjectId.Directory || call.Mutator != Mutators.Delete) return false;
        var reader = new MessagePackReader(call.Arguments);
        reader.ReadArrayHeader(1);
        id = new ObjectId(reader.ReadUInt64());
        return true;
    }

    void ITangoView.SaveState(IBufferWriter<byte> output)
    {
        var writer = new MessagePackWriter(output);
        writer.WriteArrayHeader(DirectoryFormat.StateLength);
        writer.Write(_level);
        writer.Write(_maxSpan);
        writer.Write(_versionAge);
        writer.Write(_nextId);
        DirectoryFormat.WriteEntries(ref writer, [.. _byId.Values]);
        ClaimFormat.WriteState(ref writer, _claims);
        DirectoryFormat.WriteEntries(ref writer, [.. _pending.Values]);
        writer.Flush();
    }

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
        var reader = new MessagePackReader(state);
        // A later level may have another form: the level stands first.
        var length = reader.ReadCount();
        (_level, _objects, _byId, _groups) = (FeatureLevel.First, _objects.Clear(), _byId.Clear(), _groups.Clear());
        _pending = _pending.Clear();
        RaiseTo(reader.ReadInt32());
        if (length != DirectoryFormat.StateLength)
            throw new TangoFormatException($"A directory's state with {length} elements is not known here");
        _maxSpan = reader.ReadInt64();
        if (_maxSpan <= 0) throw new TangoFormatException($"A span of {_maxSpan} positions does not exist");
        _versionAge = reader.ReadInt64();
        if (_versionAge <= 0) throw new TangoFormatException($"An age of {_versionAge} positions does not exist");
        _nextId = reader.ReadUInt64();
        foreach (var entry in DirectoryFormat.ReadEntries(ref reader)) Add(entry);
        _claims = ClaimFormat.ReadState(ref reader);
        foreach (var entry in DirectoryFormat.ReadEntries(ref reader))
        {
            if (entry.Origin is null && (entry.Group is null || !_groups.ContainsKey(entry.Group)))
                throw new TangoFormatException($"'{entry.Name}' is reserved for a group that does not exist");
            _pending = _pending.Add(entry.Name, entry);
        }
    }

    /// <exception cref="TangoLevelException">R23: this code does not know what else may stand in the log, so the
    /// directory ends here.</exception>
    private void RaiseTo(int level)
    {
        if (level > _newestLevel) throw TangoLevelException.TooNew(level, _newestLevel);
        _level = Math.Max(_level, level);
    }

    private ImmutableArray<DirectoryEntry> ApplyCreate(
        LogBeginning begin, string? group, ImmutableArray<NewObject> members, LogPosition at)
    {
        // R23: before any change.
        if (begin.Level < FeatureLevel.First || begin.MaxSpan <= 0 || begin.VersionAge <= 0)
            throw Reject(
                $"No log begins with level {begin.Level}, a span of {begin.MaxSpan} positions and an age of "
                + $"{begin.VersionAge}");
        var isFirst = IsUntouched;
        if (isFirst && begin.Level > _newestLevel) throw TangoLevelException.TooNew(begin.Level, _newestLevel);
        var created = ApplyCreate(group, members, at);
        if (isFirst) (_level, _maxSpan, _versionAge) = begin;
        return created;
    }

    private ImmutableArray<DirectoryEntry> ApplyCreate(
        string? group, ImmutableArray<NewObject> members, LogPosition at)
    {
        if (members.IsEmpty) throw Reject("Nothing is named that is to be created");
        if (group is not null && _groups.TryGetValue(group, out var existing))
            return RequireSame(group, existing, members);
        if (group is null && members.Length == 1 && _objects.TryGetValue(members[0].Name, out var entry))
            return [RequireSame(entry, members[0])];
        for (var i = 0; i < members.Length; i++)
        {
            if (_objects.ContainsKey(members[i].Name))
                throw Reject($"'{members[i].Name}' exists and is not in a group '{group}'");
            RequireNotPending(members[i].Name, at);
            for (var j = 0; j < i; j++)
            {
                if (members[j].Name == members[i].Name) throw Reject($"'{members[i].Name}' is named twice");
            }
        }

        RequireIds(members.Length);
        var created = ImmutableArray.CreateBuilder<DirectoryEntry>(members.Length);
        foreach (var member in members)
        {
            var added = new DirectoryEntry(new ObjectId(_nextId++), member.Name, member.TypeName, group,
                member.VersionCapacity)
            { Created = new LogPosition(at.Offset) };
            if (group is null || !_groups.ContainsKey(group)) _claims = _claims.Create(added.Id, at);
            Add(added);
            _pending = _pending.Remove(added.Name);
            created.Add(added);
        }

        return created.MoveToImmutable();
    }

    private void Add(DirectoryEntry entry)
    {
        if (entry.Removed is null) _objects = _objects.Add(entry.Name, entry);
        _byId = _byId.Add(entry.Id, entry);
        if (entry.Group is not { } group) return;
        // By id, as a state that is loaded has them: members may be added in another order than they were reserved.
        _groups = _groups.SetItem(
            group, [.. _groups.GetValueOrDefault(group, []).Append(entry).OrderBy(static member => member.Id)]);
    }

    // A cohort with all its members, or another member than the first one, whose id is the cohort's.
    private void ApplyDelete(ObjectId id, LogPosition at)
    {
        if (_byId.TryGetValue(id, out var member) && member.Removed is null && !_claims.Cohorts.ContainsKey(id))
        {
            RemoveMember(member, at);
            return;
        }

        if (!_claims.Cohorts.ContainsKey(id) || id == ObjectId.Directory)
            throw Reject($"{id} is no object, or is deleted already");
        var members = GroupOf(id).ToImmutableArray();
        _claims = _claims.Delete(members, at);
        // The name of a removed member may be another object's.
        _objects = _objects.RemoveRange(
            members.Where(static member => member.Removed is null).Select(static member => member.Name));
        _byId = _byId.RemoveRange(members.Select(static member => member.Id));
        if (members[0].Group is not { } group) return;
        _groups = _groups.Remove(group);
        ForgetPendingOf(group);
    }

    private void ApplyRename(ObjectId id, string name, string newName, LogPosition at)
    {
        if (!_byId.TryGetValue(id, out var entry) || entry.Removed is not null)
            throw Reject($"{id} is no object, or is deleted already");
        // The caller found the object by its name: another caller may have renamed it since.
        if (name != entry.Name) throw Reject($"'{name}' is called '{entry.Name}' by now");
        if (newName == name) return;
        if (_objects.ContainsKey(newName)) throw Reject($"'{newName}' exists");
        RequireNotPending(newName, at);
        _pending = _pending.Remove(newName);
        var renamed = entry with { Name = newName };
        _objects = _objects.Remove(entry.Name).Add(newName, renamed);
        _byId = _byId.SetItem(id, renamed);
        if (entry.Group is { } group) _groups = _groups.SetItem(group, _groups[group].Replace(entry, renamed));
    }

    private static DirectoryEntry RequireSame(DirectoryEntry entry, NewObject member) =>
        entry.TypeName == member.TypeName
        ? entry
        : throw Reject($"'{entry.Name}' is of type {entry.TypeName}, not {member.TypeName}");

    private static ImmutableArray<DirectoryEntry> RequireSame(
        string group, ImmutableArray<DirectoryEntry> existing, ImmutableArray<NewObject> members)
    {
        var there = existing.Where(static entry => entry.Removed is null).ToList();
        var same = there.Count == members.Length;
        for (var i = 0; same && i < members.Length; i++)
            same = there[i].Name == members[i].Name && there[i].TypeName == members[i].TypeName;
        if (same) return existing;
        var names = string.Join(", ", there.Select(static entry => $"{entry.Name}: {entry.TypeName}"));
        throw Reject($"Group '{group}' exists with other members: {names}");
    }

    /// <summary>An object to be created.</summary>
    internal readonly record struct NewObject(string Name, string TypeName, int VersionCapacity);

    /// <summary>Parameters of the log, which the record that creates its first object fixes.</summary>
    /// <param name="Level">Feature level of the log at first.</param>
    /// <param name="MaxSpan">R19: see <see cref="TangoDirectory.MaxSpan"/>.</param>
    internal readonly record struct LogBeginning(int Level, long MaxSpan, long VersionAge = DefaultVersionAge);
}
