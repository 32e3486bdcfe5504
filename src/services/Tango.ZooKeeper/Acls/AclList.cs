namespace Tango.ZooKeeper;

/// <summary>Access control list of a node: never empty, compared by its entries. Nodes share equal lists.</summary>
public sealed class AclList : IEquatable<AclList>
{
    // Seeded by the process, so that clients cannot choose it: no part of the state.
    private readonly int _hash;

    /// <param name="entries">At least one; each with scheme and id.</param>
    internal AclList(ImmutableArray<AclEntry> entries)
    {
        Entries = entries;
        var hash = new HashCode();
        foreach (var entry in entries)
        {
            if (entry.IsWorld) ForWorld |= entry.Permissions;
            hash.Add(entry);
        }

        _hash = hash.ToHashCode();
    }

    /// <summary>Anyone may do anything.</summary>
    public static AclList Open { get; } = new([new AclEntry(Permissions.All, "world", "anyone")]);

    /// <summary>Anyone may read.</summary>
    public static AclList ReadOnly { get; } = new([new AclEntry(Permissions.Read, "world", "anyone")]);

    public ImmutableArray<AclEntry> Entries { get; }

    /// <summary>Permissions of anyone.</summary>
    internal Permissions ForWorld { get; }

    /// <summary>The list as it is shown to a caller without <see cref="Permissions.Admin"/>: without digests.</summary>
    public AclList Redacted() => new([
        .. Entries.Select(static entry => entry.Scheme == "digest"
            ? entry with { Id = entry.Id!.Split(':')[0] + ":x" }
            : entry),
    ]);

    public bool Equals(AclList? other) => ReferenceEquals(this, other)
        || other is not null && other._hash == _hash && other.Entries.AsSpan().SequenceEqual(Entries.AsSpan());

    public override bool Equals(object? obj) => Equals(obj as AclList);

    public override int GetHashCode() => _hash;

    public override string ToString() => string.Join(", ", Entries);
}
