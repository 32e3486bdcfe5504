namespace Salus.Region.Recovery;

/// <summary>Copies records of a region's log from other stores into the own one.</summary>
internal sealed class RecordCopies(RecoveryPorts ports, StoreCalls calls, RegionKey region)
{
    private const int MaxNames = 256;
    private const int Attempts = 3;

    /// <summary>Copies what the own store does not list. On return the copies are durable.</summary>
    /// <returns>The indexes of records that no store could give intact.</returns>
    public async Task<IReadOnlySet<long>> CopyAsync(
        IEnumerable<MergedRecord> records, CancellationToken cancellationToken)
    {
        var left = records.ToList();
        var lsn = 0L;
        for (var attempt = 0; attempt < Attempts && left.Count > 0; attempt++)
        {
            if (attempt > 0) await ports.PauseAsync(cancellationToken);
            foreach (var store in left.SelectMany(static record => record.Stores).Distinct().ToList())
            {
                if (store == ports.Store) continue;
                var there = left.Where(record => record.Stores.Contains(store)).ToList();
                var copied = new HashSet<MergedRecord>();
                lsn = Math.Max(lsn, await CopyFromAsync(store, there, copied, cancellationToken));
                left.RemoveAll(copied.Contains);
            }
        }

        await ports.Log.WaitDurableAsync(lsn);
        return left.Select(static record => record.Head.Index).ToHashSet();
    }

    private async ValueTask<long> CopyFromAsync(StoreId store, List<MergedRecord> records,
        HashSet<MergedRecord> copied, CancellationToken cancellationToken)
    {
        var lsn = 0L;
        for (var next = 0; next < records.Count;)
        {
            var asked = records.Skip(next).Take(MaxNames).ToList();
            var answer = await calls.TryReadAsync(
                store, [.. asked.Select(static record => record.Name)], cancellationToken);
            if (answer is not { IsEmpty: false } bodies) return lsn;
            for (var i = 0; i < Math.Min(asked.Count, bodies.Length); i++)
            {
                if (Verify(asked[i], bodies[i]) is not { } record) continue;
                lsn = Math.Max(lsn, await AppendAsync(record, cancellationToken));
                copied.Add(asked[i]);
            }

            next += bodies.Length;
        }

        return lsn;
    }

    private async ValueTask<long> AppendAsync(RegionRecord record, CancellationToken cancellationToken)
    {
        while (true)
        {
            switch (ports.Log.TryCopy(record, out var lsn))
            {
                case Status.Ok:
                    return lsn;
                case Status.Overloaded:
                    ports.Log.Commit();
                    break;
                case Status.NoSpace:
                    // Space may come; the agent gives the member up otherwise.
                    break;
                default:
                    throw new StoreFailedException(
                        $"The store takes no copy of record {record.Head.Index} of {region}.", null);
            }

            await ports.PauseAsync(cancellationToken);
        }
    }

    // Null: the store does not have it, or not as it was certified.
    private static RegionRecord? Verify(MergedRecord expected, ReadOnlyMemory<byte> bytes)
    {
        if (bytes.IsEmpty) return null;
        try
        {
            var record = RegionRecord.Decode(bytes);
            if (record.Head != expected.Head
                || RegionRecord.DigestOf(record.Head.Kind, record.Content, out _) != record.Head.Digest)
                return null;
            return record.Head.Kind != RegionRecordKind.Put || SubBatch.Decode(record.Content, out _).FirstDamaged() < 0
                ? record with { Certificate = expected.Certificate }
                : null;
        }
        catch (MalformedDataException)
        {
            return null;
        }
    }
}
