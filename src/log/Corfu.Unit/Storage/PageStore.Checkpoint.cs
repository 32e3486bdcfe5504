namespace Corfu.Unit;

// R3: a checkpoint is begun under the handler's lock, ended without it, and published when the log is durable up to all
// that the map may reflect by then. The replay begins where the checkpoint was begun: the map reflects some records.
internal sealed partial class PageStore
{
    // Under _gate.
    private long _records;
    private long _recordsAtCheckpoint;
    private long _checkpointNumber;
    private bool _checkpointAsked;

    public bool CheckpointDue => _records - _recordsAtCheckpoint >= CheckpointInterval;

    public bool CheckpointDueAtEnd => _records - _recordsAtCheckpoint >= CheckpointInterval / 20;

    private long CheckpointInterval => Math.Max(_options.CheckpointRecords, _catalog.Pages / 8);

    public MapCheckpoint BeginCheckpoint()
    {
        lock (_gate)
        {
            var tail = new LogTail(AppendedUntil, _lastRecord, _incarnation, _records);
            _recordsAtCheckpoint = _records;
            _checkpointAsked = false;
            return new MapCheckpoint(new MapHeader(_logId, _map.BeginCheckpoint(), tail, _lastCheck, _firstKept),
                _gaps.ToRecord(), _catalog.Copy());
        }
    }

    public ValueTask EndCheckpointAsync(MapCheckpoint begun) => _map.EndCheckpointAsync(begun.Header.Map);

    public ValueTask PublishCheckpointAsync(MapCheckpoint ended)
    {
        ended.Header.Number = ++_checkpointNumber;
        return ended.PublishAsync(_maps);
    }

    // The newest that is whole and that the log agrees with; null: all of the log has to be read.
    private async ValueTask<MapCheckpoint?> TryCheckpointAsync(SegmentImage image, Action<ReadOnlyMemory<byte>> restore)
    {
        foreach (var candidate in MapCheckpoint.Load(_maps, _logId))
        {
            var header = candidate.Header;
            _checkpointNumber = Math.Max(_checkpointNumber, header.Number);
            if (!await header.AgreesAsync(image)) continue;
            try
            {
                _map = _maps.Open(header.Map, _log.Fail);
                restore(candidate.Core);
            }
            catch (Exception error)
                when (error is StoreFailedException or IOException or MalformedDataException or LogDamagedException)
            {
                _map?.Dispose();
                _map = null!;
                continue;
            }

            candidate.ForgetNewer(_maps);
            _catalog.Restore(candidate.Segments);
            _gaps.Read(candidate.Gaps.Body);
            _firstKept = header.FirstKept;
            _records = _recordsAtCheckpoint = header.Tail.Records;
            return candidate;
        }

        return null;
    }

    // Segments of the checkpoint that are missing now must have been freed since.
    private void DropFreed(SegmentImage image, LogGaps freed, long promisedBegin)
    {
        foreach (var segment in _catalog.Copy())
        {
            var begin = segment.Index * (long)_options.SegmentSize;
            if (image.SkipMissing(begin) == begin) continue;
            if (segment.First >= promisedBegin)
            {
                if (!freed.Excuse(segment.Before, segment.Last))
                    throw new LogDamagedException(
                        $"A part of the log is missing: segment {segment.Index}. Rebuild this unit from its replicas.",
                        begin);
                _gaps.Add(segment.Before, segment.Last);
            }

            _catalog.Forget(segment.Index);
        }
    }
}
