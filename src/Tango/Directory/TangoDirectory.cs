using System.Buffers;
using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango;

/// <summary>
/// The object that names all others (Tango 3.2, Naming): fixed id, ids handed out in log order, groups with the
/// membership they were created with (R20). Its code is written by hand, since the generator's output cannot be used in
/// this assembly.
/// </summary>
internal sealed class TangoDirectory : TangoObject, ITangoObject<TangoDirectory>
{
    /// <summary>R18: a parameter of the format, not of the runtime.</summary>
    public const int OwnVersionCapacity = 1024;

    public const int MaxNameLength = 512;
    public const int MaxGroupMembers = 256;

    /// <summary>R19: the one of logs whose first object was created without the parameter.</summary>
    public const long DefaultMaxSpan = 65_536;

    private static readonly MutatorInfo s_create = new(1, "Create", Reads: true);
    private static readonly MutatorInfo s_raiseLevel = new(2, "RaiseLevel", Reads: true);
    private static readonly MutatorInfo s_createFirst = new(3, "CreateFirst", Reads: true);
    private static readonly TangoObjectType s_type =
        new("tango-directory", static () => new TangoDirectory(), static () => { }, s_create, s_raiseLevel,
            s_createFirst);

    private ImmutableSortedDictionary<string, DirectoryEntry> _objects =
        ImmutableSortedDictionary.Create<string, DirectoryEntry>(StringComparer.Ordinal);

    private ImmutableSortedDictionary<string, ImmutableArray<DirectoryEntry>> _groups =
        ImmutableSortedDictionary.Create<string, ImmutableArray<DirectoryEntry>>(StringComparer.Ordinal);

    // <= ObjectId.EndOfUser: the ids are streams, and those from there on have other uses.
    private ulong _nextId = ObjectId.FirstUser.Value;

    // <= FeatureLevel.Newest, and never falls.
    private int _level = FeatureLevel.First;
    private long _maxSpan = DefaultMaxSpan;

    public static DirectoryEntry OwnEntry { get; } =
        new(ObjectId.Directory, "tango/directory", s_type.Name, null, OwnVersionCapacity);

    static TangoObjectType ITangoObject<TangoDirectory>.ObjectType => s_type;

    public static TangoObjectType Type => s_type;

    /// <summary>On a view: what may be written into the log.</summary>
    public int Level => _level;

    /// <summary>On a view: the longest way of a transaction's spilled writes to its commit record, in positions
    /// (R19). Fixed for the log.</summary>
    public long MaxSpan => _maxSpan;

    /// <summary>On a view: no object was ever created, so that no older code can be hurt by a higher level.</summary>
    public bool IsUntouched => _nextId == ObjectId.FirstUser.Value && _level == FeatureLevel.First;

    /// <summary>Creates the objects, or returns them if they exist exactly so.</summary>
    /// <param name="group">Null: one object on its own.</param>
    public ValueTask<ImmutableArray<DirectoryEntry>> CreateAsync(
        string? group, ImmutableArray<NewObject> members, CancellationToken cancellationToken)
    {
        var arguments = DirectoryFormat.Create(group, members);
        return UpdateHelperAsync<ImmutableArray<DirectoryEntry>>(s_create, ObjectKey.None, arguments,
            cancellationToken);
    }

    /// <summary>As <see cref="CreateAsync"/>. If these are the log's first objects, it begins with this level and
    /// span.</summary>
    public ValueTask<ImmutableArray<DirectoryEntry>> CreateFirstAsync(
        int level, long maxSpan, string? group, ImmutableArray<NewObject> members, CancellationToken cancellationToken)
    {
        var arguments = DirectoryFormat.CreateFirst(level, maxSpan, group, members);
        return UpdateHelperAsync<ImmutableArray<DirectoryEntry>>(
            s_createFirst, ObjectKey.None, arguments, cancellationToken);
    }

    /// <returns>The log's level, which may have been higher.</returns>
    public ValueTask<int> RaiseLevelAsync(int level, CancellationToken cancellationToken) =>
        UpdateHelperAsync<int>(
            s_raiseLevel, ObjectKey.None, DirectoryFormat.RaiseLevel(level), cancellationToken);

    /// <returns>The log's level.</returns>
    public ValueTask<int> ReadLevelAsync(CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, ValueTuple, int>(
            ObjectKey.None, default, static (view, _) => view._level, cancellationToken);

    public ValueTask<DirectoryEntry?> FindAsync(string name, CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, string, DirectoryEntry?>(
            ObjectKey.None, name, static (view, n) => view._objects.GetValueOrDefault(n), cancellationToken);

    public ValueTask<ImmutableArray<DirectoryEntry>> FindGroupAsync(string group,
        CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, string, ImmutableArray<DirectoryEntry>>(
            ObjectKey.None, group, static (view, g) => view._groups.GetValueOrDefault(g, []), cancellationToken);

    public ValueTask<ImmutableArray<DirectoryEntry>> ListAsync(CancellationToken cancellationToken) =>
        QueryHelperAsync<TangoDirectory, ValueTuple, ImmutableArray<DirectoryEntry>>(
            ObjectKey.None, default, static (view, _) => [.. view._objects.Values], cancellationToken);

    /// <summary>On a view: the entries of the object's group, or of the object alone.</summary>
    public IReadOnlyList<DirectoryEntry> GroupOf(ObjectId id)
    {
        var entry = _objects.Values.FirstOrDefault(known => known.Id == id);
        if (entry is null) return [];
        return entry.Group is null ? [entry] : _groups[entry.Group];
    }

    void ITangoView.Apply(int mutator, ReadOnlySpan<byte> key, ReadOnlySpan<byte> arguments, in ApplyContext context)
    {
        var reader = new MessagePackReader(arguments);
        if (mutator == s_create.Number)
        {
            reader.ReadArrayHeader(2);
            var (group, members) = DirectoryFormat.ReadMembers(ref reader);
            context.Return(ApplyCreate(group, members));
        }
        else if (mutator == s_createFirst.Number)
        {
            reader.ReadArrayHeader(4);
            var (level, maxSpan) = (reader.ReadInt32(), reader.ReadInt64());
            var (group, members) = DirectoryFormat.ReadMembers(ref reader);
            context.Return(ApplyCreateFirst(level, maxSpan, group, members));
        }
        else if (mutator == s_raiseLevel.Number)
        {
            reader.ReadArrayHeader(1);
            RaiseTo(reader.ReadInt32());
            context.Return(_level);
        }
        else
        {
            throw new TangoUnknownRecordException(s_type.Name, mutator);
        }
    }

    // At the first level in the first level's form.
    void ITangoView.SaveState(IBufferWriter<byte> output)
    {
        var isFirst = _level == FeatureLevel.First;
        var writer = new MessagePackWriter(output);
        writer.WriteArrayHeader(
            isFirst ? DirectoryFormat.StateLengthOfFirstLevel : DirectoryFormat.StateLength);
        writer.Write(_nextId);
        DirectoryFormat.WriteEntries(ref writer, [.. _objects.Values]);
        if (!isFirst)
        {
            writer.Write(_level);
            writer.Write(_maxSpan);
        }

        writer.Flush();
    }

    void ITangoView.LoadState(ReadOnlySpan<byte> state)
    {
        var reader = new MessagePackReader(state);
        var length = reader.ReadArrayHeader();
        if (length is not (DirectoryFormat.StateLengthOfFirstLevel or DirectoryFormat.StateLength))
            throw new TangoFormatException($"A directory's state with {length} elements is not known here");
        _nextId = reader.ReadUInt64();
        _objects = _objects.Clear();
        _groups = _groups.Clear();
        foreach (var entry in DirectoryFormat.ReadEntries(ref reader)) Add(entry);
        (_level, _maxSpan) = (FeatureLevel.First, DefaultMaxSpan);
        if (length == DirectoryFormat.StateLengthOfFirstLevel) return;
        RaiseTo(reader.ReadInt32());
        _maxSpan = reader.ReadInt64();
    }

    /// <exception cref="TangoLevelException">R23: this code does not know what else may stand in the log, so the
    /// directory ends here.</exception>
    private void RaiseTo(int level)
    {
        if (level > FeatureLevel.Newest) throw TangoLevelException.TooNew(level);
        _level = Math.Max(_level, level);
    }

    private ImmutableArray<DirectoryEntry> ApplyCreateFirst(
        int level, long maxSpan, string? group, ImmutableArray<NewObject> members)
    {
        // R23: before any change.
        if (IsUntouched && level > FeatureLevel.Newest) throw TangoLevelException.TooNew(level);
        var isFirst = IsUntouched;
        var created = ApplyCreate(group, members);
        if (isFirst) (_level, _maxSpan) = (level, maxSpan);
        return created;
    }

    private ImmutableArray<DirectoryEntry> ApplyCreate(string? group, ImmutableArray<NewObject> members)
    {
        if (group is not null && _groups.TryGetValue(group, out var existing))
            return RequireSame(group, existing, members);
        if (group is null && members.Length == 1 && _objects.TryGetValue(members[0].Name, out var entry))
            return [RequireSame(entry, members[0])];
        for (var i = 0; i < members.Length; i++)
        {
            if (_objects.ContainsKey(members[i].Name))
                throw Reject($"'{members[i].Name}' exists and is not in a group '{group}'");
            for (var j = 0; j < i; j++)
            {
                if (members[j].Name == members[i].Name) throw Reject($"'{members[i].Name}' is named twice");
            }
        }

        if ((ulong)members.Length > ObjectId.EndOfUser - _nextId)
            throw Reject($"No more ids: those from {ObjectId.EndOfUser} on are streams of checkpoints");
        var created = ImmutableArray.CreateBuilder<DirectoryEntry>(members.Length);
        foreach (var member in members)
        {
            var added = new DirectoryEntry(new ObjectId(_nextId++), member.Name, member.TypeName, group,
                member.VersionCapacity);
            Add(added);
            created.Add(added);
        }

        return created.MoveToImmutable();
    }

    private void Add(DirectoryEntry entry)
    {
        _objects = _objects.Add(entry.Name, entry);
        if (entry.Group is not null)
            _groups = _groups.SetItem(entry.Group, _groups.GetValueOrDefault(entry.Group, []).Add(entry));
    }

    private static DirectoryEntry RequireSame(DirectoryEntry entry, NewObject member) =>
        entry.TypeName == member.TypeName
        ? entry
        : throw Reject($"'{entry.Name}' is of type {entry.TypeName}, not {member.TypeName}");

    private static ImmutableArray<DirectoryEntry> RequireSame(
        string group, ImmutableArray<DirectoryEntry> existing, ImmutableArray<NewObject> members)
    {
        var same = existing.Length == members.Length;
        for (var i = 0; same && i < members.Length; i++)
            same = existing[i].Name == members[i].Name && existing[i].TypeName == members[i].TypeName;
        if (same) return existing;
        var names = string.Join(", ", existing.Select(static entry => $"{entry.Name}: {entry.TypeName}"));
        throw Reject($"Group '{group}' was created with other members, and membership is fixed: {names}");
    }

    /// <summary>An object to be created.</summary>
    internal readonly record struct NewObject(string Name, string TypeName, int VersionCapacity);
}
