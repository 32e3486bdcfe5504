using System.Buffers;

namespace Corfu.Unit;

/// <summary>Gives disk space back while the unit serves (TOCS 2.6, R5): deletes segments that a prefix trim has
/// released, and empties those in which random trims have left little. A single worker takes small steps under the
/// handler's lock, and makes each durable before the next.</summary>
internal sealed class LogCleaner : IAsyncDisposable
{
    /// <summary>Moved between two waits for durability: appends share the disk fairly.</summary>
    private const int BytesPerWait = 256 << 10;

    private const int StreamBytes = 32;

    private static readonly TimeSpan BusyPause = TimeSpan.FromMilliseconds(20);

    private readonly UnitHandler _handler;
    private readonly ICleanableStore _store;
    private readonly IWorker _worker;
    private volatile bool _stopping;

    public LogCleaner(UnitHandler handler, ICleanableStore store, Action<Exception> failed)
    {
        _handler = handler;
        _store = store;
        _worker = store.Workers.Create("corfu-unit-cleaner", StepAsync, failed);
        store.CleaningDue = _worker.Kick;
        _worker.Kick();
        _worker.Start();
    }

    /// <summary>Completes when there is nothing to clean.</summary>
    public Task CleanAsync() => _worker.RunAsync();

    public async ValueTask DisposeAsync()
    {
        _stopping = true;
        _store.CleaningDue = null;
        await _worker.DisposeAsync();
        if (!_handler.IsStopped && !_store.IsFull && _store.CheckpointDueAtEnd) await TryCheckpointAsync();
    }

    private async ValueTask StepAsync()
    {
        try
        {
            while (!_stopping && (await DeleteTrimmedAsync() || await EmptyOneAsync())) UnitTelemetry.Cleanings.Add(1);
            if (!_stopping && !_store.IsFull && _store.CheckpointDue) await TryCheckpointAsync();
        }
        catch (Exception) when (_stopping || _handler.IsStopped)
        {
            // The unit has ended, or has failed and reports that itself.
        }
    }

    private async ValueTask TryCheckpointAsync()
    {
        try
        {
            await CheckpointAsync();
        }
        catch (Exception error) when (error is StoreFailedException or IOException)
        {
            // The next start reads the log instead.
        }
    }

    // R3. The map and the streams change while this runs; a restart replays the records behind the beginning.
    private async ValueTask CheckpointAsync()
    {
        var core = new ArrayBufferWriter<byte>();
        var checkpoint = _handler.WithCore(unit =>
        {
            unit.WriteCheckpoint(core);
            return _store.BeginCheckpoint();
        });
        await _store.EndCheckpointAsync(checkpoint);
        var next = 0;
        while (_handler.WithCore(unit =>
        {
            unit.WriteStreams(core, ref next);
            return next < unit.Streams;
        }))
        {
        }

        checkpoint.Header.Needs = await _handler.WaitDurableAsync();
        checkpoint.Core = core.WrittenMemory;
        await _store.PublishCheckpointAsync(checkpoint);
        UnitTelemetry.Checkpoints.Add(1);
    }

    private async ValueTask<bool> DeleteTrimmedAsync()
    {
        var mark = _handler.WithCore(core => core.TrimMark);
        var going = _store.WhollyTrimmed(mark).ToHashSet();
        return going.Count > 0 && IsWorthIt(going) && await DeleteAsync(going);
    }

    // Recording the tails of millions of idle streams again costs space: only for at least twice as much.
    private bool IsWorthIt(HashSet<int> going)
    {
        if (_store.IsFull) return true;
        long streams = 0;
        var next = 0;
        for (var more = true; more && !_stopping;)
        {
            more = _handler.WithCore(core =>
            {
                streams += core.CountStreams(going, ref next);
                return next < core.Streams;
            });
        }

        return streams * StreamBytes * 2 <= (long)going.Count * _store.SegmentSize;
    }

    private async ValueTask<bool> EmptyOneAsync()
    {
        var mark = _handler.WithCore(core => core.TrimMark);
        var segment = _store.Sparsest(mark);
        if (segment < 0) return false;
        HashSet<int> going = [segment];
        return IsWorthIt(going) && await EmptyAsync(segment) && await DeleteAsync(going);
    }

    private async ValueTask<bool> EmptyAsync(int segment)
    {
        var moved = 0;
        var emptied = await ReadSegmentAsync(segment, async (record, place) =>
        {
            while (!_stopping)
            {
                switch (_handler.WithCore(core => core.Keep(record, place)))
                {
                    case KeepOutcome.Dead:
                        return true;
                    case KeepOutcome.Moved:
                        moved += RecordCodec.Size(record);
                        if (moved < BytesPerWait) return true;
                        moved = 0;
                        await _handler.WaitDurableAsync();
                        return true;
                    case KeepOutcome.Busy when !_store.IsFull:
                        await PauseAsync();
                        break;
                    default:
                        // Damaged, or no room at all: other segments may need less of it.
                        return false;
                }
            }

            return false;
        });
        if (!emptied && !_stopping) _store.SetAside(segment);
        return emptied;
    }

    private async ValueTask<bool> ReadSegmentAsync(int segment, Func<LogRecord, RecordPlace, ValueTask<bool>> visit)
    {
        try
        {
            return await _store.ReadSegmentAsync(segment, visit);
        }
        catch (IOException)
        {
            // Unreadable sectors: their pages become corrupt when a read meets them.
            return false;
        }
    }

    private async ValueTask<bool> DeleteAsync(HashSet<int> going)
    {
        var next = 0;
        while (!_handler.WithCore(core => core.CarryStreams(going, ref next, _store.LargestBody)))
        {
            if (_stopping) return false;
            await _handler.WaitDurableAsync();
        }

        while (!_handler.WithCore(core =>
        {
            _store.AboutToFree(going);
            return core.TryAppendState() && _store.TryAppendFreed();
        }))
        {
            if (_stopping) return false;
            await PauseAsync();
        }

        // The moved records, the state record and the list of freed parts replace what is deleted.
        if (!Planted.Is("segment-freed-before-its-pages")) await _handler.WaitDurableAsync();
        if (_stopping) return false;
        _store.Delete(going);
        UnitTelemetry.FreedSegments.Add(going.Count);
        return true;
    }

    private Task PauseAsync() => Task.Delay(BusyPause, _store.Workers.Time);
}
