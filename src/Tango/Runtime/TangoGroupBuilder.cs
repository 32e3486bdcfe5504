using System.Collections.Immutable;
using Tango.Runtime;

namespace Tango;

/// <summary>Names the members of a co-hosted group; see <see cref="TangoRuntime.OpenGroupAsync"/>.</summary>
public sealed class TangoGroupBuilder
{
    private readonly TangoOptions _options;
    private readonly List<(TangoDirectory.NewObject Member, TangoObject Handle, TangoObjectType Type)> _members = [];

    internal TangoGroupBuilder(TangoOptions options) => _options = options;

    internal ImmutableArray<TangoDirectory.NewObject> Members => [.. _members.Select(static m => m.Member)];

    internal bool HasIndex => _members.Exists(static m => m.Type.IsIndex);

    /// <summary>Adds a member. The handle can be used once the group is open.</summary>
    public T Add<T>(string name)
        where T : TangoObject, ITangoObject<T>
    {
        TangoRuntime.RequireName(name);
        if (_members.Count >= TangoDirectory.MaxGroupMembers)
            throw new TangoDirectoryException($"A group has at most {TangoDirectory.MaxGroupMembers} members");
        T.ObjectType.VerifyFormatters();
        _options.Types.Add<T>();
        var handle = T.ObjectType.Create();
        var recorded = T.ObjectType.Recorded.ToString();
        _members.Add((new TangoDirectory.NewObject(name, recorded, _options.NewObjectVersionCapacity), handle,
            T.ObjectType));
        return (T)handle;
    }

    internal bool Matches(ImmutableArray<DirectoryEntry> entries)
    {
        var same = entries.Length == _members.Count;
        for (var i = 0; same && i < _members.Count; i++)
            same = entries[i].Name == _members[i].Member.Name && _members[i].Type.Is(entries[i].TypeName);
        return same;
    }

    internal void Attach(ImmutableArray<DirectoryEntry> entries, Func<DirectoryEntry, ObjectHost> host)
    {
        for (var i = 0; i < entries.Length; i++) _members[i].Handle.Attach(host(entries[i]));
    }
}
