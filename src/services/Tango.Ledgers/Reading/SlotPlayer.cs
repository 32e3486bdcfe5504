using Tango.Ledgers.Records;

namespace Tango.Ledgers.Reading;

/// <summary>Plays the records of an open ledger. Not safe for concurrent use.</summary>
internal sealed class SlotPlayer
{
    // Positions of one step of the search for a spine, which grows with each step.
    private const long FirstStep = 1024;

    // Records read at once.
    private const int Batch = 64;

    private readonly StreamCursor _cursor;

    private SlotPlayer(LedgerState state, StreamCursor cursor) => (State, _cursor) = (state, cursor);

    public LedgerState State { get; }

    public RecordCache Recent { get; } = new();

    /// <summary>Begins above what the newest spine names, or at the ledger's creation.</summary>
    public static async ValueTask<SlotPlayer> OpenAsync(
        ICorfuLog log, StreamId stream, LogPlace key, SpineReader spines, CancellationToken cancellationToken)
    {
        var state = new LedgerState(key);
        var from = key.Position.Next;
        if (await FindSpineAsync(log, stream, key, cancellationToken) is { } position)
        {
            var spine = await spines.ReadAsync(position, cancellationToken);
            state.Begin(spine, position);
            from = LogPosition.Max(from, spine.Floor);
        }

        return new SlotPlayer(state, new StreamCursor(log, stream, from));
    }

    /// <summary>Plays up to the tail of a linearizable check, holes closed.</summary>
    /// <exception cref="LogTrimmedException">The ledger was closed, and moved or deleted.</exception>
    // B11: what is dense afterwards stays so, and no end can come to stand below. With a hole left open, a reader
    // reports 9 above a hole in which a fence is about to be written.
    public async ValueTask PlayAsync(CancellationToken cancellationToken)
    {
        if (State.End is not null) return;
        await _cursor.SyncAsync(ReadConsistency.Linearizable, cancellationToken);
        while (State.End is null && await _cursor.ReadNextAsync(cancellationToken) is { } entry)
        {
            var record = LedgerRecord.Decode(entry.Payload);
            State.Play(entry.Position, record);
            if (State.End is null && record is EntriesRecord entries) Recent.Add(entry.Position, entries);
        }
    }

    /// <summary>Walks back to the newest record of the ledger that knows a spine.</summary>
    private static async ValueTask<LogPosition?> FindSpineAsync(
        ICorfuLog log, StreamId stream, LogPlace key, CancellationToken cancellationToken)
    {
        var check = await log.CheckAsync([stream], ReadConsistency.Linearizable, cancellationToken);
        var tail = check.Streams[0];
        var lowest = key.Position.Next;
        IReadOnlyList<LogPosition> positions = tail.Positions;
        var below = LogPosition.Max(check.Tail, lowest);
        for (var step = FirstStep; ; step *= 4)
        {
            foreach (var chunk in positions.Where(position => position >= lowest).Chunk(Batch))
            {
                var results = await log.ReadManyAsync(
                    [.. chunk], ReadDetail.Full, ReadMode.Observe, cancellationToken);
                foreach (var result in results)
                {
                    // A position that no entry came to be at may be another stream's in a later epoch.
                    if (!result.IsData || !result.Entry!.TryGetStream(stream, out _)) continue;
                    var record = LedgerRecord.Decode(result.Entry!.Payload);
                    if (record.Key != key) continue;
                    if (record is SpineRecord or CloseRecord) return result.Position;
                    if (record is EntriesRecord entries) return entries.Spine;
                }
            }

            if (positions.Count > 0) below = LogPosition.Min(below, positions[^1]);
            if (below <= lowest || tail.Positions.IsEmpty) return null;
            var from = new LogPosition(Math.Max(lowest.Offset, below.Offset - step));
            positions = await StreamPositions.FindAsync(log, tail, from, below, cancellationToken);
            below = from;
        }
    }
}
