namespace Tango.Ledgers.Records;

/// <summary>The end of a ledger.</summary>
/// <param name="Last">-1: it is empty.</param>
/// <param name="Spine">Position of the record that names all entries; null: none does.</param>
internal sealed record LedgerEnd(long Last, long Length, LogPosition? Spine);

/// <summary>The state of a ledger whose records are played in the order of the log. Pure.</summary>
// B2: a ledger is a function of its own records, from its creation on; the first fence or close ends it for every
// reader. Else two recoverers find two ends.
internal sealed class LedgerState(LogPlace key)
{
    // Above a gap, by first id.
    private readonly SortedDictionary<long, (EntriesRecord Record, LogPosition Position)> _ahead = [];

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
    public IEnumerable<SpineRange> Ahead =>
        _ahead.Values.Select(static a => new SpineRange(a.Record.First, a.Record.Data.Length, a.Position));

    /// <summary>Begins above what a spine names.</summary>
    public void Begin(Spine spine, LogPosition position) => Edge.Follow(spine, position);

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
            case SpineRecord { Spine: var spine } when spine.Through <= Edge.Through:
                Edge.Follow(spine, position);
                break;
            case FenceRecord:
                End = new LedgerEnd(Edge.Through, Edge.Length, null);
                break;
            case CloseRecord { Spine: var spine }:
                End = new LedgerEnd(spine.Through, spine.Length, position);
                break;
        }
    }

    private void Add(LogPosition position, EntriesRecord record)
    {
        // An id is in one record only (B6), but for what a spine has named already.
        if (record.First > Edge.Through) _ahead.TryAdd(record.First, (record, position));
        while (_ahead.Remove(Edge.Through + 1, out var next))
            Edge.Add(next.Record.Data.Length, next.Position, next.Record.Bytes);
    }
}
