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

    /// <summary>Adds a member. The handle can be used once the group is open.</summary>
    public T Add<T>(string name)
        where T : TangoObject, ITangoObject<T>
    {
        ObjectNames.Require(name);
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

    /// <summary>The members that the group does not have.</summary>
    /// <exception cref="TangoDirectoryException">The group has a member of the name and another type.</exception>
    internal IReadOnlyList<TangoDirectory.NewObject> MissingOf(ImmutableArray<DirectoryEntry> entries)
    {
        var missing = new List<TangoDirectory.NewObject>();
        foreach (var (member, _, type) in _members)
        {
            if (Find(entries, member.Name) is { } known) type.RequireIs(known);
            else missing.Add(member);
        }

        return missing;
    }

    /// <summary>The handles with their entries. None is missing.</summary>
    internal IEnumerable<(TangoObject Handle, DirectoryEntry Entry)> Match(ImmutableArray<DirectoryEntry> entries) =>
        _members.Select(one => (one.Handle, Find(entries, one.Member.Name)!));

    // A removed member may have had the name.
    private static DirectoryEntry? Find(ImmutableArray<DirectoryEntry> entries, string name) =>
        entries.FirstOrDefault(entry => entry.Name == name && entry.Removed is null);
}
