using System.Buffers;
using System.Collections.Immutable;
using Corfu.Protocol;
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

    private static readonly MutatorInfo s_create = new(1, "Create", Reads: true);
    private static readonly TangoObjectType s_type =
        new("tango-directory", static () => new TangoDirectory(), static () => { }, s_create);

    private ImmutableSortedDictionary<string, DirectoryEntry> _objects =
        ImmutableSortedDictionary.Create<string, DirectoryEntry>(StringComparer.Ordinal);

    private ImmutableSortedDictionary<string, ImmutableArray<DirectoryEntry>> _groups =
        ImmutableSortedDictionary.Create<string, ImmutableArray<DirectoryEntry>>(StringComparer.Ordinal);

    // <= FirstRawValue: ids are streams, and those from there on are applications'.
    private ulong _nextId = ObjectId.FirstUser.Value;

    public static DirectoryEntry OwnEntry { get; } =
        new(ObjectId.Directory, "tango/directory", s_type.Name, null, OwnVersionCapacity);

    static TangoObjectType ITangoObject<TangoDirectory>.ObjectType => s_type;

    public static TangoObjectType Type => s_type;

    /// <summary>Creates the objects, or returns them if they exist exactly so.</summary>
    /// <param name="group">Null: one object on its own.</param>
    public ValueTask<ImmutableArray<DirectoryEntry>> CreateAsync(
        string? group, ImmutableArray<NewObject> members, CancellationToken cancellationToken)
    {
        var arguments = new ArgumentBuffer();
        var writer = new MessagePackWriter(arguments);
        writer.WriteArrayHeader(2);
        writer.Write(group);
        writer.WriteArrayHeader(members.Length);
        foreach (var member in members)
        {
            writer.WriteArrayHeader(3);
            writer.Write(member.Name);
            writer.Write(member.TypeName);
            writer.Write(member.VersionCapacity);
        }

        writer.Flush();
        return UpdateHelperAsync<ImmutableArray<DirectoryEntry>>(s_create, ObjectKey.None, arguments,
            cancellationToken);
    }

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
        if (mutator != s_create.Number) throw new TangoUnknownRecordException(s_type.Name, mutator);
        var reader = new MessagePackReader(arguments);
        reader.ReadArrayHeader(2);
        var group = reader.ReadString();
        var members = ImmutableArray.CreateBuilder<NewObject>();
        for (var count = reader.ReadArrayHeader(); count > 0; count--)
        {
            reader.ReadArrayHeader(3);
            members.Add(new NewObject(ReadText(ref reader), ReadText(ref reader), reader.ReadInt32()));
        }

        context.Return(ApplyCreate(group, members.ToImmutable()));
    }

    void ITangoView.SaveState(IBufferWriter<byte> output)
    {
        var writer = new MessagePackWriter(output);
        writer.WriteArrayHeader(2);
        writer.Write(_nextId);
        writer.WriteArrayHeader(_objects.Count);
        foreach (var entry in _objects.Values.OrderBy(static entry => entry.Id))
        {
            writer.WriteArrayHeader(5);
            writer.Write(entry.Id.Value);
            writer.Write(entry.Name);
            writer.Write(entry.TypeName);
            writer.Write(entry.Group);
            writer.Write(entry.VersionCapacity);
        }

        writer.Flush();
    }

    void ITangoView.LoadState(ReadOnlySpan<byte> state)
    {
        var reader = new MessagePackReader(state);
        reader.ReadArrayHeader(2);
        _nextId = reader.ReadUInt64();
        _objects = _objects.Clear();
        _groups = _groups.Clear();
        for (var count = reader.ReadArrayHeader(); count > 0; count--)
        {
            reader.ReadArrayHeader(5);
            var id = new ObjectId(reader.ReadUInt64());
            Add(new DirectoryEntry(id, ReadText(ref reader), ReadText(ref reader), reader.ReadString(),
                reader.ReadInt32()));
        }
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

        if ((ulong)members.Length > StreamId.FirstRawValue - _nextId)
            throw Reject($"No more ids: those from {StreamId.FirstRawValue} on are raw streams");
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

    private static string ReadText(ref MessagePackReader reader) =>
        reader.ReadString() ?? throw new TangoFormatException("A name in the directory is nil");

    /// <summary>An object to be created.</summary>
    internal readonly record struct NewObject(string Name, string TypeName, int VersionCapacity);
}
