namespace Corfu.Store.State;

/// <summary>A state while one record changes it: all its changes are of one revision.</summary>
/// <param name="place">The record's.</param>
internal sealed class WorkingState(StoreState start, LogPlace place)
{
    private readonly ImmutableArray<StoreKey>.Builder _changed = ImmutableArray.CreateBuilder<StoreKey>();
    private long _bytes = start.Bytes;

    public KeyTable Table { get; private set; } = start.Table;

    public ImmutableSortedDictionary<long, LeaseRow> Leases { get; private set; } = start.Leases;

    private long Revision => start.Revision + 1;

    public void Put(StoreKey key, ValuePlace value, long lease)
    {
        var row = Table.Find(key);
        var before = row?.Newest is { IsDeleted: false } newest ? newest : null;
        Change(key, row, new StoreVersion(
            Revision, before?.Created ?? Revision, (before?.Version ?? 0) + 1, lease, value));
    }

    public long Delete(StoreRange range)
    {
        var keys = Table.Range(range).Select(static found => found.Key).ToArray();
        foreach (var key in keys) Delete(key);
        return keys.Length;
    }

    public void Delete(StoreKey key) => Change(key, Table.Find(key), StoreVersion.Deleted(Revision));

    public void EndLease(long id)
    {
        foreach (var key in Leases[id].Keys) Delete(key);
        Leases = Leases.Remove(id);
    }

    /// <summary>The state with the changes, before it drops versions.</summary>
    public StoreState ToState()
    {
        var state = start with { Table = Table, Leases = Leases, Bytes = _bytes };
        if (_changed.Count == 0 && !Planted.Is("refusals-count")) return state;
        var revision = Revision;
        return state with
        {
            Revision = revision,
            History = state.History.Add(
                new RevisionRow(place.Position.Offset, place.Record, _changed.DrainToImmutable())),
            Floor = start.Settings!.KeepRevisions is { } keep
                ? Math.Max(start.Floor, revision - keep + 1)
                : start.Floor,
        };
    }

    private void Change(StoreKey key, KeyRow? row, StoreVersion version)
    {
        if (row?.Newest.Revision == Revision)
        {
            // Another change of the same revision, which is replaced.
            _bytes -= key.Length + row.Newest.Place.Length;
        }
        else
        {
            _changed.Add(key);
        }

        _bytes += key.Length + version.Place.Length;
        if (row is { Newest.Lease: > 0 and var old } && old != version.Lease && !Planted.Is("lease-keeps-what-it-lost"))
            Detach(key, old);
        if (version.Lease > 0) Attach(key, version.Lease);
        Table = Table.Set(key, row is null ? KeyRow.Of(version) : row.With(version));
    }

    private void Attach(StoreKey key, long lease) =>
        Leases = Leases.SetItem(lease, Leases[lease] with { Keys = Leases[lease].Keys.Add(key) });

    private void Detach(StoreKey key, long lease)
    {
        if (Leases.TryGetValue(lease, out var row))
            Leases = Leases.SetItem(lease, row with { Keys = row.Keys.Remove(key) });
    }
}
