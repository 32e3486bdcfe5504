namespace Craq.Storage;

internal sealed partial class NodeStore
{
    // Address of the first record that stays, according to the newest Freed record.
    private long _firstKept;

    /// <summary>Records that the start read: all, or those behind a checkpoint.</summary>
    public long RecordsRead { get; private set; }

    public bool StartedFromCheckpoint { get; private set; }

    public async ValueTask<bool> RecoverAsync(Action<StoreRecord> visit)
    {
        var image = new SegmentImage(_files, _options.SegmentSize);
        _log.SetBegin(image.Begin);
        var (checkpoint, needed) = await FindCheckpointAsync(image);
        StartedFromCheckpoint = checkpoint is not null;
        _index ??= _maps.Open(null, _log.Fail);
        if (checkpoint is not null) Restore(checkpoint, needed, visit);
        var firstRecord = -1L;
        var mark = _log.ReadMark();
        // R6: also proof. A checkpoint is published only when the log is durable as far as the index may reflect it.
        var found = await new RecordScanner(image, _logId, NodeScanRules.Instance).ScanAsync(
            Math.Max(mark, checkpoint?.Header.Needs ?? 0), Visit, checkpoint?.Header.Tail);
        CheckBeginning(image, checkpoint is null ? firstRecord : _segments.Peek().First);
        _records = found.Records;
        _budget = LogBytes;
        await _log.SecureAsync(image, mark, found.End);
        if (found.TornBytes) await _log.WipeAsync(found.End, image.End);
        await GoOnFromAsync(found);
        return found.Records > 0;

        void Visit(in FramedRecord framed, in FramedPlace at)
        {
            RecordsRead++;
            if (firstRecord < 0) firstRecord = at.Address;
            var record = NodeScanRules.Record(framed, at);
            Note(at.Address, at.Previous, record.Chain, record.IsMoved ? StoreRecordKind.Moved : record.Kind,
                record.Version);
            if (record.Kind == StoreRecordKind.Freed) _firstKept = record.Version.Value;
            if (record.Kind is not (StoreRecordKind.Open or StoreRecordKind.Freed)) Apply(record, visit);
        }
    }

    private static void Apply(in StoreRecord record, Action<StoreRecord> visit)
    {
        try
        {
            visit(record);
        }
        catch (Exception error) when (error is MalformedDataException or ArgumentException or OverflowException
            or IndexOutOfRangeException)
        {
            throw new LogDamagedException(
                $"The {record.Kind} record at {record.Place.Address} of the log cannot be applied: {error.Message} "
                + NodeScanRules.Remedy, record.Place.Address);
        }
    }

    // Segments are deleted only when a Freed record says so: a beginning that is missing beyond that was lost.
    private void CheckBeginning(SegmentImage image, long firstRecord)
    {
        if (image.Begin > 0 && (firstRecord < 0 || _firstKept < firstRecord))
        {
            throw new LogDamagedException($"The beginning of the log is missing. {NodeScanRules.Remedy}",
                image.Begin);
        }

        foreach (var segment in _segments)
        {
            var begin = segment.Index * (long)_options.SegmentSize;
            if (image.SkipMissing(begin) == begin) continue;
            throw new LogDamagedException($"Segment {segment.Index} of the log is missing. {NodeScanRules.Remedy}",
                begin);
        }
    }

    private async ValueTask GoOnFromAsync(LogTail found)
    {
        _incarnation = found.Incarnation + 1;
        _lastRecord = found.LastRecord;
        await _log.StartAsync(found.End, _incarnation);
        // Nothing else is written before the Open record is durable, so an incarnation is never used twice.
        Add(StoreRecordKind.Open, StoreRecordKind.None, default, default, default);
        await WaitDurableAsync();
    }

    // The newest checkpoint that is whole and that the log agrees with; null: all of the log has to be read.
    private async ValueTask<(NodeCheckpoint?, List<StoreRecord>)> FindCheckpointAsync(SegmentImage image)
    {
        foreach (var candidate in NodeCheckpoint.Load(_maps, _logId))
        {
            var header = candidate.Header;
            _checkpointNumber = Math.Max(_checkpointNumber, header.Number);
            if (!await header.AgreesAsync(image)) continue;
            if (await TryReadNeededAsync(image, candidate) is not { } needed) continue;
            try
            {
                _index = _maps.Open(header.Map, _log.Fail);
            }
            catch (Exception error) when (error is StoreFailedException or IOException)
            {
                continue;
            }

            // Newer ones could not be read just now: the index goes on over the part that they need.
            _maps.Delete([.. _maps.List().Where(n => n > header.Number)]);
            return (candidate, needed);
        }

        return (null, []);
    }

    private void Restore(NodeCheckpoint checkpoint, List<StoreRecord> needed, Action<StoreRecord> visit)
    {
        _lastHolding = checkpoint.LastHolding;
        _firstKept = checkpoint.Header.FirstKept;
        _records = _recordsAtCheckpoint = checkpoint.Header.Tail.Records;
        foreach (var segment in checkpoint.Segments)
        {
            if (segment.Index * (long)_options.SegmentSize < _log.Begin) continue;
            _newest = segment;
            _segments.Enqueue(segment);
        }

        foreach (var saved in checkpoint.Chains)
        {
            _chains[saved.Chain] = saved.Held;
            _liveBytes += saved.Held.LiveBytes;
            _objects += saved.Held.Objects;
        }

        var records = needed.ToLookup(record => record.Chain);
        foreach (var saved in checkpoint.Chains)
        {
            if (saved.State is not { } state) continue;
            Apply(new StoreRecord(StoreRecordKind.ChainState, saved.Chain, saved.Mark, state, default), visit);
            foreach (var record in records[saved.Chain]) Apply(record, visit);
        }
    }

    private async ValueTask<List<StoreRecord>?> TryReadNeededAsync(SegmentImage image, NodeCheckpoint candidate)
    {
        var records = new List<StoreRecord>();
        foreach (var place in candidate.Chains.SelectMany(chain => chain.Needed))
        {
            var address = NodeScanRules.HeaderOf(place);
            if (address < image.Begin) return null;
            var bytes = new byte[RecordFraming.HeaderSize + NodeScanRules.Prefix + place.Length];
            await image.ReadAsync(address, bytes);
            if (!RecordFraming.TryDecode(bytes, address, out var header) || header.LogId != _logId
                || RecordFraming.HeaderSize + header.BodyLength != bytes.Length) return null;
            var (record, at) = RecordScanner.Decode(bytes, address, header, NodeScanRules.Instance);
            if (at.Damage is not null) return null;
            records.Add(NodeScanRules.Record(record, at));
        }

        return records;
    }
}
