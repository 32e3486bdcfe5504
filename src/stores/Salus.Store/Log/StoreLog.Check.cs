namespace Salus.Store.Log;

// The search for damage, before a reader or a restart meets it.
public sealed partial class StoreLog
{
    private const long BytesPerCheck = 1 << 20;
    private const int RecordsPerCheck = 1024;

    // Addresses of records that came again, whose old places no scan passes.
    private readonly HashSet<long> _brokenHeads = [];

    /// <summary>A record that was mended has a damaged head where it stood before: a restart that finds it takes
    /// nothing new. False again when that file of the log has been freed.</summary>
    public bool HasBrokenHead
    {
        get
        {
            lock (_gate) return _brokenHeads.Any(address => address >= _log.Begin);
        }
    }

    /// <summary>Records that are needed, whose bytes are damaged here and are to come again from a peer.</summary>
    public ImmutableArray<DamagedRecord> Damaged
    {
        get
        {
            lock (_gate)
            {
                return
                [
                    .. _regions.Values.SelectMany(static found => found.Entries.Where(static entry => !entry.IsIntact)
                        .Select(entry => new DamagedRecord(found.Region, entry.Name, entry.Chain))),
                ];
            }
        }
    }

    /// <summary>Whether the record is still needed, and damaged.</summary>
    public bool IsDamaged(in DamagedRecord record) => FindEntry(record.Region, record.Name) is { IsIntact: false };

    /// <summary>Reads records of a region as the disk has them, about a mebibyte, and remembers which of them are
    /// damaged. Records that are not durable yet are passed over.</summary>
    /// <param name="from">An index.</param>
    /// <returns>Bytes that were read, and the index to go on from; null: there are no more.</returns>
    public async ValueTask<(long Bytes, long? Next)> CheckAsync(RegionKey region, long from)
    {
        var (names, hasMore) = EntriesFrom(region, from, RecordsPerCheck);
        var (bytes, last) = (0L, from);
        foreach (var name in names)
        {
            // All records of an index are read together.
            if (bytes >= BytesPerCheck && name.Index != last) return (bytes, name.Index);
            bytes += await CheckAsync(region, name);
            last = name.Index;
        }

        return (bytes, hasMore ? last + 1 : null);
    }

    /// <summary>Writes a damaged record again. On return it is durable.</summary>
    /// <param name="copy">A peer's <see cref="RegionRecord"/>, encoded: nothing in it is trusted.</param>
    /// <returns>Ok, or it is needed no more; Corrupt: the copy is not the record; NoSpace, Overloaded,
    /// Failed.</returns>
    /// <exception cref="StoreFailedException">The log has failed.</exception>
    public async ValueTask<Status> MendAsync(DamagedRecord damaged, ReadOnlyMemory<byte> copy)
    {
        if (FindEntry(damaged.Region, damaged.Name) is not { IsIntact: false } entry) return Status.Ok;
        if (DecodeCopy(damaged, copy) is not { } record) return Status.Corrupt;
        // The own certificate has been verified; the peer's has not.
        var own = await ReadCertificateAsync(entry);
        var status = TryCopy(own is null ? record : record with { Certificate = own }, out var lsn);
        if (status != Status.Ok) return status;
        await WaitDurableAsync(lsn);
        if (own is null)
        {
            lock (_gate) _brokenHeads.Add(entry.Address);
        }

        return Status.Ok;
    }

    private async ValueTask<long> CheckAsync(RegionKey region, RecordName name)
    {
        // A single bad transfer is no damage, and a record may have moved meanwhile.
        for (var attempt = 0; attempt < 2; attempt++)
        {
            if (FindEntry(region, name) is not { IsIntact: true } entry || entry.Lsn > DurableUntil) return 0;
            var length = RecordFraming.HeaderSize + entry.Length;
            if (Decode(entry, await _log.TryReadStoredAsync(entry.Address, length)) is not null) return length;
        }

        SetDamaged(region, name);
        return 0;
    }

    // Null: the bytes are another record, or not whole.
    private static RegionRecord? DecodeCopy(in DamagedRecord damaged, ReadOnlyMemory<byte> bytes)
    {
        if (bytes.IsEmpty) return null;
        try
        {
            var record = RegionRecord.Decode(bytes);
            var isSame = record.Head.Region == damaged.Region && record.Head.Chain == damaged.Chain
                && IsWhole(record, out _);
            return isSame && (record.Head.Kind != RegionRecordKind.Put
                || SubBatch.Decode(record.Content, out _).FirstDamaged() < 0) ? record : null;
        }
        catch (MalformedDataException)
        {
            return null;
        }
    }

    // Null: the damage may be in it. Its check covers head, certificate and the hashes of the data.
    private async ValueTask<Certificate?> ReadCertificateAsync(LogEntry entry)
    {
        var bytes = await _log.TryReadStoredAsync(entry.Address, RecordFraming.HeaderSize + entry.Length);
        if (!RecordFraming.TryDecode(bytes.Span, entry.Address, out var header) || header.LogId != _logId
            || !RecordFraming.CheckedPartIntact(bytes.Span, entry.Address, header)) return null;
        return DecodeHead(entry, bytes)?.Certificate;
    }
}

/// <summary>A record of a region's log whose bytes are damaged in a store.</summary>
/// <param name="Chain">The chain up to the record, which tells the right one.</param>
public readonly record struct DamagedRecord(RegionKey Region, RecordName Name, Hash128 Chain);
