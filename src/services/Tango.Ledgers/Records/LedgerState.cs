namespace Tango.Ledgers.Records;

/// <summary>The end of a ledger.</summary>
/// <param name="Last">-1: it is empty.</param>
/// <param name="Spine">Position of the record that names all entries; null: none does.</param>
/// <param name="At">Position of the fence or close.</param>
/// <param name="IsWriters">The writer has ended it.</param>
internal sealed record LedgerEnd(long Last, long Length, LogPosition? Spine, LogPosition At, bool IsWriters);

/// <summary>The state of a ledger whose records are played in the order of the log. Pure.</summary>
// B2: a ledger is a function of its own records, from its creation on; the first fence or close ends it for every
// reader. Else two recoverers find two ends.
internal sealed class LedgerState(LogPlace key)
{
    // Records above a gap, by first id. Their data is left out: a gap may stay for long.
    private readonly SortedDictionary<long, (SpineRange Range, long Bytes)> _ahead = [];

    // Invariant (B13): Through of the newest spine that was begun from or followed. An older one, which a replay from
    // the floor meets, names less: followed, it would lose what only the newer one names.
    private long _named = -1;

    /// <summary>Names the entries 0 to <see cref="Last"/>.</summary>
    public SpineEdge Edge { get; } = new();

    /// <summary>All entries up to it have been played. -1: none.</summary>
    public long Last => End?.Last ?? Edge.Through;

    /// <summary>Bytes of the entries up to <see cref="Last"/>.</summary>
    public long Length => End?.Length ?? Edge.Length;

    /// <summary>Null: the ledger is open, as far as it was played.</summary>
    public LedgerEnd? End { get; private set; }

    /// <summary>The slot is a later ledger's.</summary>
    // B9: a slot changes hands when its ledger is closed, so that the end stands below.
    public bool IsHandedOn { get; private set; }

    /// <summary>Records above a gap, which no reader confirms.</summary>
    public IEnumerable<SpineRange> Ahead => _ahead.Values.Select(static ahead => ahead.Range);

    /// <summary>Begins above what a spine names.</summary>
    public void Begin(Spine spine, LogPosition position)
    {
        Edge.Follow(spine, position);
        _named = spine.Through;
    }

    public void Play(LogPosition position, LedgerRecord record)
    {
        if (End is not null) return;
        if (record.Key != key && !Planted.Is("ledger-by-slot"))
        {
            IsHandedOn |= record.Key > key;
            return;
        }

        switch (record)
        {
            case EntriesRecord entries:
                Add(position, entries);
                break;
            case SpineRecord { Spine: var spine } when spine.Through <= Edge.Through
                && (spine.Through > _named || Planted.Is("older-spine-followed")):
                Begin(spine, position);
                break;
            case FenceRecord fence:
                End = new LedgerEnd(Edge.Through, Edge.Length, null, position, fence.IsWriters);
                break;
            case CloseRecord { Spine: var spine }:
                End = new LedgerEnd(spine.Through, spine.Length, position, position, true);
                break;
        }
    }

    private void Add(LogPosition position, EntriesRecord record)
    {
        // An id is in one record only (B6), but for what a spine has named already.
        if (record.First > Edge.Through)
        {
            var range = new SpineRange(record.First, record.Data.Length, position);
            _ahead.TryAdd(record.First, (range, record.Bytes));
        }

        while (_ahead.Remove(Edge.Through + 1, out var next))
            Edge.Add(next.Range.Count, next.Range.Position, next.Bytes);
    }
}
