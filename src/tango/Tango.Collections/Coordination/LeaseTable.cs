using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>The leases of one object, by their numbers. Immutable: each change is another table.</summary>
/// <param name="Last">The greatest number given: of a lease, or of a version. None is given twice.</param>
[MessagePackObject]
internal sealed record LeaseTable<T>(
    [property: Key(0)] ImmutableSortedDictionary<long, Leased<T>> Items, [property: Key(1)] long Last)
{
    [IgnoreMember]
    public IEnumerable<LeaseInfo> Leases => Items.Select(static item =>
        new LeaseInfo(item.Key, item.Value.Version, TimeSpan.FromMilliseconds(item.Value.Milliseconds)));

    /// <summary>A new lease, whose number is the table's <see cref="Last"/>.</summary>
    public LeaseTable<T> Grant(T value, long milliseconds)
    {
        if (Planted.Is("two-holders-one-token") && this is LeaseTable<string> { Items.IsEmpty: true })
            return (this with { Last = 0 }).Put(1, value, milliseconds);
        return Put(Last + 1, value, milliseconds);
    }

    /// <summary>A lease of this number, in place of one that is there.</summary>
    public LeaseTable<T> Put(long id, T value, long milliseconds) =>
        new(Items.SetItem(id, new(value, Last + 1, milliseconds)), Last + 1);

    /// <summary>Another value of a lease that is there; no renewal.</summary>
    public LeaseTable<T> With(long id, T value) =>
        this with { Items = Items.SetItem(id, Items[id] with { Value = value }) };

    /// <returns>The same table, if there is no such lease.</returns>
    public LeaseTable<T> Renew(long id) =>
        Items.TryGetValue(id, out Leased<T> lease)
            ? new(Items.SetItem(id, lease with { Version = Last + 1 }), Last + 1)
            : this;

    /// <summary>Whether the lease is one of the first so many.</summary>
    public bool IsAmong(long id, int first) =>
        Items.ContainsKey(id) && (first >= Items.Count || Items.Keys.Take(first).Contains(id));

    public LeaseTable<T> End(long id) => this with { Items = Items.Remove(id) };

    /// <summary>Whether the lease was not renewed since it had this version.</summary>
    public bool IsSilent(long id, long version)
    {
        if (Planted.Is("any-version-expires")) return Items.ContainsKey(id);
        return Items.TryGetValue(id, out Leased<T> lease) && lease.Version == version;
    }
}

/// <summary>A lease and what it stands for.</summary>
/// <param name="Milliseconds">Without a renewal for so long it ends.</param>
[MessagePackObject]
internal readonly record struct Leased<T>(
    [property: Key(0)] T Value, [property: Key(1)] long Version, [property: Key(2)] long Milliseconds);

/// <summary>The version key of all grants: of another form than any key of the user's, so that no feed of keys tells
/// them.</summary>
[MessagePackObject]
internal readonly record struct LeaseGrants;

/// <summary>The version key of a lease's renewals. Another one than the lease's own: a transaction that requires the
/// lease does not abort when it is renewed.</summary>
[MessagePackObject]
internal readonly record struct LeaseRenewal([property: Key(0)] long Lease);
