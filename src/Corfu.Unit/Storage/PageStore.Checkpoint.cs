using Corfu.Protocol;

namespace Corfu.Unit;

// R3: the map's checkpoint is a shortcut. Begun under the handler's lock, ended without it, published when the log is
// durable up to all that the map may reflect by then. The replay begins where the checkpoint was begun and finds some
// records reflected already.
internal sealed partial class PageStore
{
    // Of the log, and at the last checkpoint. Under _gate.
    private long _records;
    private long _recordsAtCheckpoint;
    private long _checkpointNumber;
    private bool _checkpointAsked;

    internal bool CheckpointDue => _records - _recordsAtCheckpoint >= CheckpointInterval;

    // At the end of a run it is worth less: the next start saves what a checkpoint now costs.
    internal bool CheckpointDueAtEnd => _records - _recordsAtCheckpoint >= CheckpointInterval / 20;

    private long CheckpointInterval => Math.Max(_options.CheckpointRecords, _catalog.Pages / 8);

    /// <summary>Begins a checkpoint of the address map, between two requests.</summary>
    internal CheckpointStart BeginCheckpoint()
    {
        lock (_gate)
        {
            var tail = new LogTail(_lastEnd, _lastRecord, _incarnation, _records, false);
            _recordsAtCheckpoint = _records;
            _checkpointAsked = false;
            return new CheckpointStart(_map.BeginCheckpoint(), tail, _lastCheck, _firstKept, _gaps.ToRecord(),
                _catalog.Copy());
        }
    }

    /// <summary>Without the lock.</summary>
    internal ValueTask EndCheckpointAsync(CheckpointStart start) => _map.EndCheckpointAsync(start.Map);

    /// <summary>Without the lock; the log is durable up to <paramref name="needs"/>, where the checkpoint
    /// ended.</summary>
    internal ValueTask PublishCheckpointAsync(CheckpointStart start, long needs, ReadOnlyMemory<byte> core) =>
        new MapCheckpoint
        {
            LogId = _logId,
            Number = ++_checkpointNumber,
            Map = start.Map,
            Tail = start.Tail,
            LastCheck = start.LastCheck,
            Needs = needs,
            FirstKept = start.FirstKept,
            Gaps = start.Gaps,
            Segments = start.Segments,
            Core = core,
        }.PublishAsync(_maps);

    // The newest that is whole and that the log agrees with; null: all of the log has to be read.
    private async ValueTask<MapCheckpoint?> TryCheckpointAsync(SegmentImage image, Action<ReadOnlyMemory<byte>> restore)
    {
        foreach (var candidate in MapCheckpoint.Load(_maps, _logId))
        {
            _checkpointNumber = Math.Max(_checkpointNumber, candidate.Number);
            if (!await AgreesAsync(image, candidate)) continue;
            try
            {
                _map = _maps.Open(candidate.Map, Fail);
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
            _gaps.Read(candidate.Gaps.Body.Span);
            _firstKept = candidate.FirstKept;
            _records = _recordsAtCheckpoint = candidate.Tail.Records;
            return candidate;
        }

        return null;
    }

    private async ValueTask<bool> AgreesAsync(SegmentImage image, MapCheckpoint candidate)
    {
        if (candidate.Needs > image.End || candidate.Tail.LastRecord < image.Begin
            || candidate.Tail.LastRecord >= image.End) return false;
        var bytes = new byte[RecordCodec.HeaderSize];
        await image.ReadAsync(candidate.Tail.LastRecord, bytes);
        return RecordCodec.TryDecode(bytes, candidate.Tail.LastRecord, out var header)
            && header.Incarnation == candidate.Tail.Incarnation
            // As the scan has it: it goes on there, and the log may end there.
            && RecordCodec.Align(candidate.Tail.LastRecord + RecordCodec.HeaderSize + header.BodyLength)
                == candidate.Tail.End
            && RecordCodec.Identity(bytes, candidate.Tail.LastRecord).Check == candidate.LastCheck;
    }

    // What the checkpoint knew and is gone now must have been freed since.
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

/// <summary>The log as it stood when a checkpoint was begun.</summary>
/// <param name="Map">The checkpoint of the address map.</param>
internal sealed record CheckpointStart(
    Guid Map, LogTail Tail, uint LastCheck, long FirstKept, LogRecord Gaps, IReadOnlyList<SegmentContents> Segments);
