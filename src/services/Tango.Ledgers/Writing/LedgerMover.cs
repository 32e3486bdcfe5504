using Tango.Ledgers.Directory;
using Tango.Ledgers.Reading;
using Tango.Ledgers.Records;

namespace Tango.Ledgers.Writing;

/// <summary>Writes closed ledgers again, above the part of the log that is to be trimmed.</summary>
internal sealed class LedgerMover(ICorfuLog log, LedgerDirectory directory, TimeProvider time)
{
    private const int Page = 256;

    public async ValueTask<int> MoveAsync(LogPosition below, CancellationToken cancellationToken)
    {
        var moved = 0;
        var failed = new List<(long Id, Exception Reason)>();
        for (var next = 0L; ;)
        {
            var rows = await directory.ListAsync(next, Page, cancellationToken);
            foreach (var row in rows)
            {
                if (!row.IsClosed || row.Place.Position >= below) continue;
                try
                {
                    if (await MoveAsync(row, cancellationToken)) moved++;
                }
                catch (Exception e) when (e is TangoFormatException or CorfuException and not LogUnavailableException)
                {
                    // A damaged ledger keeps the log; the others are moved all the same.
                    failed.Add((row.Id, e));
                }
            }

            if (rows.Length < Page || rows[^1].Id == long.MaxValue) break;
            next = rows[^1].Id + 1;
        }

        if (failed.Count == 0) return moved;
        throw new TangoException(
            $"{moved} ledgers were moved, and these could not be: {string.Join(", ", failed.Select(f => f.Id))}",
            failed[0].Reason);
    }

    private async ValueTask<bool> MoveAsync(LedgerRow row, CancellationToken cancellationToken)
    {
        // B12: copies stand above the call that begins the move, which EndMove names: the directory keeps the log from
        // there. Else they are trimmed before the call that names them.
        var begun = await directory.BeginMoveAsync(row.Id, row.Key, cancellationToken);
        if (begun?.Moving is not { } moving) return false;
        long? spine = null;
        try
        {
            if (begun.Spine is { } old)
                spine = (await CopyAsync(begun, new LogPosition(old), cancellationToken)).Offset;
        }
        catch (LogTrimmedException)
        {
            // Deleted, or moved by another call.
            return false;
        }

        return await directory.EndMoveAsync(row.Id, row.Key, moving, spine, cancellationToken);
    }

    /// <returns>The position of the spine of the copies.</returns>
    private async ValueTask<LogPosition> CopyAsync(LedgerRow row, LogPosition old, CancellationToken cancellationToken)
    {
        var target = new SlotLog(log, LedgerStreams.OfMoved(directory.ObjectId), row.LedgerId, time);
        var spines = new SpineReader(log, row.Key);
        var root = await spines.ReadAsync(old, cancellationToken);
        var edge = new SpineEdge();
        while (edge.Through < row.Last)
        {
            var ranges = await spines.FindAsync(root, [], edge.Through + 1, row.Last, 32, cancellationToken);
            var results = await log.ReadManyAsync(
                [.. ranges.Select(static range => range.Position)], cancellationToken: cancellationToken);
            foreach (var result in results)
            {
                if (result.State == PageState.Trimmed)
                    throw new LogTrimmedException($"Ledger {row.Id} at {result.Position}", result.Position);
                if (!result.IsData || LedgerRecord.Decode(result.Entry!.Payload) is not EntriesRecord entries
                    || entries.Key != row.Key || entries.First != edge.Through + 1)
                {
                    throw new TangoFormatException(
                        $"Ledger {row.Id} has no entry {edge.Through + 1} at {result.Position}");
                }

                var (position, _) = await target.AppendAsync(entries with { Spine = null }, cancellationToken);
                edge.Add(entries.Data.Length, position, entries.Bytes);
                if (edge.IsFull) await WriteSpineAsync();
            }
        }

        return await WriteSpineAsync();

        async ValueTask<LogPosition> WriteSpineAsync()
        {
            var spine = edge.ToSpine(default);
            var (position, _) = await target.AppendAsync(new SpineRecord(row.Key, spine), cancellationToken);
            edge.Follow(spine, position);
            return position;
        }
    }
}
