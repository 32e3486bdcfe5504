namespace Salus.Store.Log;

public sealed partial class StoreLog
{
    // Address of the first record that stays, according to the newest Freed record.
    private long _firstKept;

    /// <summary>Records that the start has read.</summary>
    public long RecordsRead { get; private set; }

    /// <summary>Null: the log is whole. Else what it lacks: the store only shows what it has.</summary>
    public string? Damage { get; private set; }

    /// <summary>Reads the log back and makes the store ready. Called once, first. A log that provably lacks something
    /// that was acknowledged takes no records any more: what is left of it serves recoveries.</summary>
    public async ValueTask RecoverAsync()
    {
        var image = new SegmentImage(_files, _options.SegmentSize);
        _log.SetBegin(image.Begin);
        try
        {
            await GoOnAsync(image);
        }
        catch (LogDamagedException damage)
        {
            await SalvageAsync(image, damage);
        }
    }

    private async ValueTask GoOnAsync(SegmentImage image)
    {
        var firstRecord = -1L;
        var mark = _log.ReadMark();
        var found = await new RecordScanner(image, _logId, StoreScanRules.Instance).ScanAsync(mark, Visit);
        if (image.Begin > 0 && (firstRecord < 0 || _firstKept < firstRecord))
        {
            throw new LogDamagedException(
                $"The beginning of the log is missing. {StoreScanRules.Remedy}", image.Begin);
        }

        await _log.SecureAsync(image, mark, found.End);
        if (found.TornBytes) await _log.WipeAsync(found.End, image.End);
        _incarnation = found.Incarnation + 1;
        _lastRecord = found.LastRecord;
        await _log.StartAsync(found.End, _incarnation);
        long lsn;
        lock (_gate)
        {
            // Nothing else is written before it is durable, so an incarnation is never used twice.
            lsn = Add(new FramedRecord((byte)StoreRecordKind.Begin, 0, 0, default, 0)) + RecordFraming.HeaderSize;
        }

        Commit();
        await _waits.WaitAsync(lsn);
        _freer.Start();

        void Visit(in FramedRecord record, in FramedPlace place)
        {
            RecordsRead++;
            if (firstRecord < 0) firstRecord = place.Address;
            Note(place.Address);
            Apply(record, place);
        }
    }

    // The scan has stopped at the damage. What stands anywhere and has its checks is shown; whether it counts is for
    // its certificate to say.
    private async ValueTask SalvageAsync(SegmentImage image, LogDamagedException damage)
    {
        _state = StoreState.Salvaged;
        Damage = damage.Message;
        _regions.Clear();
        var window = new LogWindow(image, SalvageWindow);
        for (var from = image.Begin; ;)
        {
            var (address, header) = await RecordScanner.FindAsync(window, from);
            if (address < 0) return;
            from = address + IRecordLog.Alignment;
            var length = RecordFraming.HeaderSize + header.BodyLength;
            var bytes = await window.GetAsync(address, length);
            if (header.LogId != _logId || bytes.Length < length) continue;
            if (TryDecode(bytes, address, header, out var record, out var place) && place.Damage is null)
            {
                RecordsRead++;
                Apply(record, place);
            }
        }
    }

    private const int SalvageWindow = 4 << 20;

    private static bool TryDecode(ReadOnlyMemory<byte> bytes, long address, in FramedHeader header,
        out FramedRecord record, out FramedPlace place)
    {
        try
        {
            (record, place) = RecordScanner.Decode(bytes, address, header, StoreScanRules.Instance);
            return true;
        }
        catch (LogDamagedException)
        {
            (record, place) = (default, default);
            return false;
        }
    }

    private void Apply(in FramedRecord record, in FramedPlace place)
    {
        try
        {
            if (StoreScanRules.IsOfARegionsLog(record.Kind)) Enter(record, place);
            else Say(record, place);
        }
        catch (MalformedDataException error)
        {
            // A salvage passes over what makes no sense; a start that finds it has found damage.
            if (State == StoreState.Salvaged) return;
            throw new LogDamagedException(
                $"The {(StoreRecordKind)record.Kind} record at {place.Address} of the log cannot be applied: "
                + $"{error.Message} {StoreScanRules.Remedy}", place.Address);
        }
    }

    private void Enter(in FramedRecord record, in FramedPlace place)
    {
        var r = new WireReader(record.Body);
        var head = RecordHead.Read(ref r);
        Hold(head.Region).Put(new LogEntry(new RecordName(head.Generation, head.Index), head.Chain, place.Address,
            record.Body.Length, place.IsIntact));
    }

    private void Say(in FramedRecord record, in FramedPlace place)
    {
        var kind = (StoreRecordKind)record.Kind;
        if (kind == StoreRecordKind.Begin) return;
        if (kind == StoreRecordKind.Freed)
        {
            _firstKept = record.Number;
            return;
        }

        var r = new WireReader(record.Body);
        var index = Hold(r.Region());
        index.Said(place.Address, kind == StoreRecordKind.State);
        switch (kind)
        {
            case StoreRecordKind.Seal:
                index.Seal(new Epoch(record.Epoch), place.Lsn);
                break;
            case StoreRecordKind.CommitMark:
                index.Mark(CommitProof.Read(ref r));
                break;
            case StoreRecordKind.Checkpoint:
                index.Keep(new KeptCheckpoint(CheckpointName.Read(ref r), Certificate.Read(ref r)));
                break;
            case StoreRecordKind.Floor:
                index.Raise(record.Number);
                break;
            case StoreRecordKind.State:
                index.ReadState(ref r);
                break;
            case StoreRecordKind.Forget:
                _regions.Remove(index.Region);
                break;
            default:
                throw new MalformedDataException($"This build knows no records of kind {record.Kind}.");
        }
    }
}
