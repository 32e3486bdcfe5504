namespace Salus.Region.Core;

/// <summary>The roots of a region batch by batch, as a member's log has them. The chain leads down from the region's
/// last record, so no other record counts.</summary>
internal static class HistoryReader
{
    /// <param name="floors">Checkpoints, ascending; the default: the region's beginning. The log is read above the
    /// first one from which on it is whole here.</param>
    /// <param name="last">The index and the chain of the region's last record.</param>
    /// <returns>Null: a record above all of them is damaged or missing here.</returns>
    public static async Task<RegionHistoryResponse?> ReadAsync(StoreLog log, RegionKey region, Epoch generation,
        IEnumerable<CheckpointName> floors, (long Index, Hash128 Chain) last)
    {
        foreach (var floor in floors.Where(floor => floor.Index <= last.Index))
        {
            if (await ReadAsync(log, region, generation, floor, last) is { } history) return history;
        }

        return null;
    }

    private static async Task<RegionHistoryResponse?> ReadAsync(
        StoreLog log, RegionKey region, Epoch generation, CheckpointName from, (long Index, Hash128 Chain) last)
    {
        if (await ChainAsync(log, region, from.Index, last) is not { } chain) return null;
        var history = new List<RegionBatch>();
        foreach (var head in chain)
        {
            if (head.Kind is not (RegionRecordKind.Put or RegionRecordKind.Open)) continue;
            if (await log.ReadAsync(region, new RecordName(head.Generation, head.Index)) is not { } record
                || record.Head != head) return null;
            if (head.Kind == RegionRecordKind.Put)
            {
                var batch = SubBatch.Decode(record.Content, out _);
                history.Add(new RegionBatch(batch.Header.Name, batch.Participant.Root, batch.Header.VolumeRoot));
                continue;
            }

            var opening = Opening.Decode(record.Content);
            while (history.Count > 0 && history[^1].Name.Number > opening.Last.Number)
                history.RemoveAt(history.Count - 1);
        }

        var surplus = history.Count - RegionHistoryRequest.MaxBatches;
        return surplus > 0
            ? new RegionHistoryResponse(Status.Ok, generation)
            {
                Base = history[surplus - 1].Name,
                BaseRoot = history[surplus - 1].Root,
                Batches = [.. history[surplus..]],
            }
            : new RegionHistoryResponse(Status.Ok, generation)
            {
                Base = new BatchName(from.Run, from.Batch, default),
                BaseRoot = from.Root,
                Batches = [.. history],
            };
    }

    // The records above an index, ascending, of all that the store has.
    private static async Task<List<RecordHead>?> ChainAsync(
        StoreLog log, RegionKey region, long above, (long Index, Hash128 Chain) last)
    {
        var heads = new Dictionary<Hash128, RecordHead>();
        for (var (next, hasMore) = (above + 1, true); hasMore;)
        {
            (var records, hasMore) = await log.ListAsync(region, next, ListLogRequest.MaxRecords);
            foreach (var record in records) heads[record.Head.Chain] = record.Head;
            if (records.IsEmpty) break;
            next = records[^1].Head.Index + 1;
        }

        var chain = new List<RecordHead>();
        for (var (index, link) = last; index > above; index--)
        {
            if (!heads.TryGetValue(link, out var head)) return null;
            chain.Add(head);
            link = head.Previous;
        }

        chain.Reverse();
        return chain;
    }
}
