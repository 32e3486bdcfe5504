namespace Salus.Store.Log;

public sealed partial class StoreLog
{
    // A head with the certificate, and the length of the content.
    private const int HeadBytes = RecordFraming.HeaderSize + RegionRecord.MaxOverhead;

    /// <summary>The regions that the store has something of.</summary>
    public ImmutableArray<StoredRegion> Regions
    {
        get
        {
            lock (_gate)
            {
                return
                [
                    .. _regions.Values.Select(found =>
                        new StoredRegion(found.Region, found.Sealed, found.Last?.Name.Index ?? 0)),
                ];
            }
        }
    }

    /// <summary>Null: the store has nothing of the region.</summary>
    public RegionSummary? Find(RegionKey region)
    {
        lock (_gate)
        {
            return _regions.TryGetValue(region, out var found)
                ? new RegionSummary(found.Sealed, found.Floor, found.Last?.Name ?? default,
                    found.Last?.Chain ?? default, found.Commit, [.. found.Checkpoints.Select(kept => kept.Name)],
                    found.Entries.Count(entry => !entry.IsIntact))
                : null;
        }
    }

    /// <summary>Completes when everything up to there is durable.</summary>
    /// <exception cref="StoreFailedException">The log has failed.</exception>
    public Task WaitDurableAsync(long lsn)
    {
        Commit();
        return _waits.WaitAsync(lsn);
    }

    /// <summary>A record whole and verified; null: the store does not have it, or not intact.</summary>
    public async ValueTask<RegionRecord?> ReadAsync(RegionKey region, RecordName name)
    {
        // A single bad transfer is no damage, and a record may have moved meanwhile.
        for (var attempt = 0; attempt < 2; attempt++)
        {
            if (FindEntry(region, name) is not { } entry) return null;
            await WaitShownAsync(entry.Lsn);
            var bytes = await _log.TryReadAsync(entry.Address, RecordFraming.HeaderSize + entry.Length);
            if (Decode(entry, bytes) is { } record) return record;
        }

        SetDamaged(region, name);
        return null;
    }

    /// <summary>Lists a region's records from an index on, in order, without their contents. A record that cannot be
    /// read is left out.</summary>
    public async ValueTask<(ImmutableArray<ListedRecord> Records, bool HasMore)> ListAsync(
        RegionKey region, long from, int most)
    {
        var (entries, hasMore) = EntriesFrom(region, from, most);
        await WaitShownAsync(_log.AppendedUntil);
        var listed = ImmutableArray.CreateBuilder<ListedRecord>(entries.Count);
        foreach (var name in entries)
        {
            if (await ReadHeadAsync(region, name) is { } record) listed.Add(record);
        }

        return (listed.DrainToImmutable(), hasMore);
    }

    private (List<RecordName> Names, bool HasMore) EntriesFrom(RegionKey region, long from, int most)
    {
        lock (_gate)
        {
            if (!_regions.TryGetValue(region, out var found)) return ([], false);
            List<RecordName> names = [.. found.From(from).Take(most + 1).Select(entry => entry.Name)];
            if (names.Count <= most) return (names, false);
            // All records of an index come in one page, unless they fill it.
            var (first, last) = (names[0].Index, names[^1].Index);
            if (first != last) names.RemoveAll(name => name.Index == last);
            return (names[..Math.Min(most, names.Count)], true);
        }
    }

    private async ValueTask<ListedRecord?> ReadHeadAsync(RegionKey region, RecordName name)
    {
        for (var attempt = 0; attempt < 2; attempt++)
        {
            if (FindEntry(region, name) is not { } entry) return null;
            var length = Math.Min(HeadBytes, RecordFraming.HeaderSize + entry.Length);
            var bytes = await _log.TryReadAsync(entry.Address, length);
            if (DecodeHead(entry, bytes) is { } record) return record;
        }

        return null;
    }

    // The head is known by its chain, which the index has; the certificate speaks for itself.
    private static ListedRecord? DecodeHead(in LogEntry entry, ReadOnlyMemory<byte> bytes)
    {
        if (bytes.Length < RecordFraming.HeaderSize) return null;
        try
        {
            var r = new WireReader(bytes[RecordFraming.HeaderSize..]);
            var head = RecordHead.Read(ref r);
            var certificate = Certificate.Read(ref r);
            return head.Chain == entry.Chain ? new ListedRecord(head, certificate, r.Int32()) : null;
        }
        catch (MalformedDataException)
        {
            return null;
        }
    }

    private RegionRecord? Decode(in LogEntry entry, ReadOnlyMemory<byte> bytes)
    {
        if (!RecordFraming.TryDecode(bytes.Span, entry.Address, out var header) || header.LogId != _logId
            || header.BodyLength != entry.Length
            || !TryDecode(bytes, entry.Address, header, out var framed, out var place)
            || !place.IsIntact || !StoreScanRules.IsOfARegionsLog(framed.Kind)) return null;
        try
        {
            var record = RegionRecord.Decode(framed.Body);
            return record.Head.Chain == entry.Chain ? record : null;
        }
        catch (MalformedDataException)
        {
            return null;
        }
    }

    // A recovery builds on what it is shown: that must be durable. A salvaged log shows what it has read.
    private Task WaitShownAsync(long lsn) =>
        State == StoreState.Salvaged ? Task.CompletedTask : WaitDurableAsync(lsn);

    private LogEntry? FindEntry(RegionKey region, RecordName name)
    {
        lock (_gate) return _regions.TryGetValue(region, out var found) ? found.Find(name) : null;
    }

    private void SetDamaged(RegionKey region, RecordName name)
    {
        lock (_gate)
        {
            if (_regions.TryGetValue(region, out var found)) found.SetDamaged(name);
        }
    }
}

/// <summary>A store's part of a region.</summary>
/// <param name="Sealed">Records of lower generations are refused.</param>
/// <param name="Floor">Records up to this index may be gone.</param>
/// <param name="Last">The newest record; the default: none.</param>
/// <param name="Chain">The chain up to it.</param>
/// <param name="Commit">The newest proof.</param>
/// <param name="Checkpoints">Checkpoints with certificates.</param>
/// <param name="Damaged">Records whose data is damaged, and must come again from a peer.</param>
public sealed record RegionSummary(Epoch Sealed, long Floor, RecordName Last, Hash128 Chain, CommitProof? Commit,
    ImmutableArray<CheckpointName> Checkpoints, int Damaged);
