namespace Tango.Ledgers.Directory;

/// <summary>A name and a value of the application's.</summary>
[MessagePackObject]
internal readonly record struct LedgerProperty([property: Key(0)] string Name, [property: Key(1)] string Value);

/// <summary>A ledger in the directory.</summary>
/// <param name="Key">Place of the call that created it: what its records name.</param>
/// <param name="Place">The log is kept from here for its entries: the place of the call that created it, or that began
/// its newest move.</param>
/// <param name="Slot">Number of an open ledger's stream. A closed ledger had it once.</param>
/// <param name="Password">SHA-256 of it.</param>
/// <param name="Created">Milliseconds since 1970, by the creator's clock.</param>
/// <param name="Last">Last entry of a closed ledger; -1: none.</param>
/// <param name="Spine">Offset of the record that names its entries; null: it has none.</param>
/// <param name="Moving">Place of the call that began a move; null: none is under way.</param>
// B8: Last, Length and Spine are a copy of what the ledger's records say; the first copy stays.
// B12: all records that are needed stand above Place, which is always that of an own call of the directory.
[MessagePackObject]
internal sealed record LedgerRow(
    [property: Key(0)] long Id, [property: Key(1)] LogPlace Key, [property: Key(2)] LogPlace Place,
    [property: Key(3)] int Slot, [property: Key(4)] ImmutableArray<byte> Password,
    [property: Key(5)] ImmutableArray<LedgerProperty> Properties, [property: Key(6)] long Created,
    [property: Key(7)] bool IsClosed, [property: Key(8)] long Last, [property: Key(9)] long Length,
    [property: Key(10)] long? Spine, [property: Key(11)] LogPlace? Moving)
{
    [IgnoreMember]
    public LedgerId LedgerId => new(Id);

    public bool IsSame(LedgerRow other) => Key == other.Key;

    public LedgerMetadata ToMetadata() => new(
        LedgerId, DateTimeOffset.FromUnixTimeMilliseconds(Created), IsClosed, Last, Length,
        Properties.ToImmutableSortedDictionary(
            static property => property.Name, static property => property.Value, StringComparer.Ordinal));
}
