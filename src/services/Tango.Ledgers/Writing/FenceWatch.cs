using Tango.Ledgers.Records;

namespace Tango.Ledgers.Writing;

/// <summary>Positions of the slot that a writer must read before it acknowledges its own record above them.</summary>
/// <param name="Above">Accounted for already.</param>
/// <param name="Own">The writer's record.</param>
/// <param name="Before">The slot's newest positions below it.</param>
internal sealed record SlotGap(LogPosition Above, LogPosition Own, ImmutableArray<LogPosition> Before);

/// <summary>Looks for the ledger's end among the positions that the writer's own appends were granted behind: fencing
/// costs the writer no message. Pure, but for <see cref="ReadAsync"/>; its caller's lock guards it.</summary>
// B3: each position of the slot from the ledger's creation up to Through is accounted for: an own record, junk, another
// ledger's, or one that is no end of this ledger. Nothing above Through is acknowledged. Else a fence stands at 103 and
// an entry at 104, which is acknowledged after a recovery has returned without it.
internal sealed class FenceWatch(LogPosition created)
{
    // Reads of one gap in one request.
    private const int Batch = 64;

    // Own records above Through that are in the log, by position.
    private readonly SortedDictionary<LogPosition, (ImmutableArray<LogPosition> Before, long Begun)> _own = [];
    private readonly SortedSet<long> _inFlight = [];
    private long _begun;
    private LogPosition _highest = created;

    /// <summary>See the invariant of the class.</summary>
    public LogPosition Through { get; private set; } = created;

    /// <summary>Appends that begin now are granted higher positions.</summary>
    public LogPosition Known => LogPosition.Max(Through, _highest);

    /// <summary>An own append begins.</summary>
    public long Begin()
    {
        _inFlight.Add(++_begun);
        return _begun;
    }

    /// <summary>An own append has ended without a record in the log, or in doubt.</summary>
    public void Lose(long number) => _inFlight.Remove(number);

    /// <summary>An own append has ended, at a position.</summary>
    public void End(long number, LogPosition position, ImmutableArray<LogPosition> before)
    {
        _inFlight.Remove(number);
        _own.Add(position, (before, _begun));
        _highest = LogPosition.Max(_highest, position);
    }

    /// <summary>Accounts for what is known.</summary>
    /// <returns>The positions that must be read next; null: none, or an own append must end first.</returns>
    public SlotGap? Advance()
    {
        while (_own.Count > 0)
        {
            var (position, (before, begun)) = _own.First();
            if (before.IsEmpty || before[0] <= Through || Planted.Is("foreign-grant-ignored"))
            {
                Account(position);
                continue;
            }

            // B4: a granted position that no own append has returned. It may be an own one that is in flight, which a
            // read would fill: appends that have begun by then end first. Later ones stand above the record.
            if (_inFlight.Count > 0 && _inFlight.Min <= begun) return null;
            return new SlotGap(Through, position, before);
        }

        return null;
    }

    /// <summary>All below an own record is accounted for.</summary>
    public void Account(LogPosition own)
    {
        _own.Remove(own);
        Through = LogPosition.Max(Through, own);
    }

    /// <summary>Reads the positions of a gap, holes closed: what is a hole now is no fence later (B4).</summary>
    /// <returns>Whether the ledger has ended there.</returns>
    public static async ValueTask<bool> ReadAsync(
        SlotLog slot, LogPlace key, SlotGap gap, CancellationToken cancellationToken)
    {
        var positions = await StreamPositions.FindAsync(
            slot.Log, new StreamTail(slot.Stream, gap.Before), gap.Above.Next, gap.Own, cancellationToken);
        foreach (var chunk in positions.Chunk(Batch))
        {
            var results = await slot.Log.ReadManyAsync(
                [.. chunk.Order()], ReadDetail.Full, ReadMode.CloseHoles, cancellationToken);
            foreach (var result in results)
            {
                if (IsEnd(result, key)) return true;
            }
        }

        return false;
    }

    private static bool IsEnd(in LogReadResult result, LogPlace key)
    {
        switch (result.State)
        {
            case PageState.Junk:
                return false;

            // B10: only the ledger's deletion, or a trim of all that is below a later claim, trims a record of the slot
            // above the creation of this ledger. The tombstone has no payload, and might hide the fence.
            case PageState.Trimmed:
                return !Planted.Is("trimmed-is-no-fence");
            case PageState.Data:
                break;
            default:
                throw new LogUnavailableException($"The position {result.Position} could not be closed.");
        }

        try
        {
            var record = LedgerRecord.Decode(result.Entry!.Payload);

            // B9: the slot changes hands when the ledger is closed.
            if (record.Key != key) return record.Key > key;

            // Records of this writer are in _own: any other than a spine in doubt is an end, or a fault.
            return record is not SpineRecord;
        }
        catch (TangoFormatException)
        {
            // A record of newer code may be an end.
            return true;
        }
    }
}
