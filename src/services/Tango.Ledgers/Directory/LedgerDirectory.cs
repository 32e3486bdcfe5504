namespace Tango.Ledgers.Directory;

/// <summary>The ledgers of a store: which there are, where their records stand, and where closed ones end. It changes
/// when a ledger is created, closed, moved or deleted; entries go past it.</summary>
[TangoObject("tango.ledgers")]
internal sealed partial class LedgerDirectory : TangoObject, ITangoIndex
{
    // Invariant: each slot below _slots is free, or an open ledger's alone.
    private ImmutableSortedDictionary<long, LedgerRow> _ledgers = ImmutableSortedDictionary<long, LedgerRow>.Empty;
    private ImmutableSortedSet<int> _free = ImmutableSortedSet<int>.Empty;
    private int _slots;

    // Ids from here on are callers' alone, so that a very high one leaves ids to choose.
    private const long FirstGiven = 1L << 62;

    // Above each id below FirstGiven that a ledger had.
    private long _next;

    LogPlace? ITangoIndex.LowestPlace
    {
        get
        {
            LogPlace? lowest = null;
            if (Planted.Is("ledgers-claim-nothing")) return lowest;
            foreach (var ledger in _ledgers.Values)
            {
                if (lowest is null || ledger.Place < lowest) lowest = ledger.Place;
            }

            return lowest;
        }
    }

    public bool IsCalledInTransaction => IsInTransaction;

    /// <param name="id">Null: one is chosen.</param>
    /// <returns>Null: the id is another ledger's, or none is left to choose.</returns>
    [Mutator(1)]
    public partial ValueTask<LedgerRow?> CreateAsync(long? id, ImmutableArray<byte> password,
        ImmutableArray<LedgerProperty> properties, long created, CancellationToken cancellationToken = default);

    /// <summary>Tells where the ledger ends, as its records say. Does nothing if that is known.</summary>
    /// <returns>The ledger, as the first call has closed it; null: it was deleted.</returns>
    [Mutator(2)]
    public partial ValueTask<LedgerRow?> CloseAsync([VersionKey] long id, LogPlace key, long last, long length,
        long? spine, CancellationToken cancellationToken = default);

    /// <returns>False: it was deleted by another call, or is open.</returns>
    [Mutator(3)]
    public partial ValueTask<bool> DeleteAsync([VersionKey] long id, LogPlace key,
        CancellationToken cancellationToken = default);

    /// <summary>The entries of a closed ledger are about to be written again, above this call.</summary>
    /// <returns>Null: there is no such ledger, or it is not closed.</returns>
    [Mutator(4)]
    public partial ValueTask<LedgerRow?> BeginMoveAsync([VersionKey] long id, LogPlace key,
        CancellationToken cancellationToken = default);

    /// <summary>The entries stand above the call that began the move, where the spine says.</summary>
    /// <returns>False: another move was begun since, or the ledger was deleted.</returns>
    [Mutator(5)]
    public partial ValueTask<bool> EndMoveAsync([VersionKey] long id, LogPlace key, LogPlace begun, long? spine,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<LedgerRow?> FindAsync([VersionKey] long id, CancellationToken cancellationToken = default);

    /// <summary>In the order of ids.</summary>
    [Accessor]
    public partial ValueTask<ImmutableArray<LedgerRow>> ListAsync(long from, int count,
        CancellationToken cancellationToken = default);

    private LedgerRow? ApplyCreate(long? id, ImmutableArray<byte> password, ImmutableArray<LedgerProperty> properties,
        long created, LogPlace place)
    {
        var chosen = id ?? _next;
        if (_ledgers.ContainsKey(chosen) || (id is null && chosen == FirstGiven)) return null;
        if (chosen < FirstGiven) _next = Math.Max(_next, chosen + 1);
        var slot = _free.IsEmpty ? _slots++ : _free.Min;
        _free = _free.Remove(slot);
        var row = new LedgerRow(
            chosen, place, place, slot, password, properties, created, false, -1, 0, null, null);
        _ledgers = _ledgers.Add(chosen, row);
        return row;
    }

    private LedgerRow? ApplyClose(long id, LogPlace key, long last, long length, long? spine)
    {
        if (Known(id, key) is not { IsClosed: false } row) return Known(id, key);
        row = row with { IsClosed = true, Last = last, Length = length, Spine = spine };
        _ledgers = _ledgers.SetItem(id, row);
        _free = _free.Add(row.Slot);
        return row;
    }

    private bool ApplyDelete(long id, LogPlace key)
    {
        // An open one has its slot, and no end in the log: the slot would change hands below a fence (B9).
        if (Known(id, key) is not { IsClosed: true }) return false;
        _ledgers = _ledgers.Remove(id);
        return true;
    }

    private LedgerRow? ApplyBeginMove(long id, LogPlace key, LogPlace place)
    {
        if (Known(id, key) is not { IsClosed: true } row) return null;
        row = row with { Moving = place };
        _ledgers = _ledgers.SetItem(id, row);
        return row;
    }

    private bool ApplyEndMove(long id, LogPlace key, LogPlace begun, long? spine)
    {
        if (Known(id, key) is not { } row || row.Moving != begun) return false;
        _ledgers = _ledgers.SetItem(id, row with { Place = row.Moving.Value, Moving = null, Spine = spine });
        return true;
    }

    private LedgerRow? Known(long id, LogPlace key) =>
        _ledgers.TryGetValue(id, out var row) && row.Key == key ? row : null;

    private LedgerRow? ReadFind(long id) => _ledgers.GetValueOrDefault(id);

    private ImmutableArray<LedgerRow> ReadList(long from, int count) =>
        [.. _ledgers.Where(pair => pair.Key >= from).Take(count).Select(static pair => pair.Value)];
}
