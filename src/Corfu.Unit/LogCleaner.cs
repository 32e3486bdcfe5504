using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// Gives disk space back while the unit serves (TOCS 2.6, R5): deletes segments that a prefix trim has released, and
/// empties those of which random trims have left little. One worker, which works in small steps under the handler's
/// lock and lets each become durable before the next.
/// </summary>
internal sealed class LogCleaner : IAsyncDisposable
{
    /// <summary>Written again between two waits for durability: appends share the disk fairly.</summary>
    private const int BytesPerWait = 256 << 10;

    private const int StreamBytes = 32;

    private static readonly TimeSpan BusyPause = TimeSpan.FromMilliseconds(20);

    private readonly UnitHandler _handler;
    private readonly PageStore _store;
    private readonly IWorker _worker;
    private volatile bool _stopping;

    public LogCleaner(UnitHandler handler, PageStore store, Action<Exception> failed)
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
            while (!_stopping && (await FreeTrimmedAsync() || await EmptyOneAsync())) UnitTelemetry.Cleanings.Add(1);
            if (!_stopping && !_store.IsFull && _store.CheckpointDue) await TryCheckpointAsync();
        }
        catch (Exception) when (_stopping || _handler.IsStopped)
        {
            // The unit has ended, or has failed and says so itself.
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

    // R3. The map and the streams change while this runs; the replay of the records that follow the beginning makes up
    // for it.
    private async ValueTask CheckpointAsync()
    {
        var core = new System.Buffers.ArrayBufferWriter<byte>();
        var start = _handler.WithCore(unit =>
        {
            unit.WriteCheckpoint(core);
            return _store.BeginCheckpoint();
        });
        await _store.EndCheckpointAsync(start);
        var next = 0;
        while (_handler.WithCore(unit =>
        {
            unit.WriteStreams(core, ref next);
            return next < unit.Streams;
        }))
        {
        }

        var needs = await _handler.WaitDurableAsync();
        await _store.PublishCheckpointAsync(start, needs, core.WrittenMemory);
        UnitTelemetry.Checkpoints.Add(1);
    }

    private async ValueTask<bool> FreeTrimmedAsync()
    {
        var mark = _handler.WithCore(core => core.TrimMark);
        var going = _store.WhollyTrimmed(mark).ToHashSet();
        return going.Count > 0 && IsWorthIt(going) && await FreeAsync(going);
    }

    // With millions of idle streams it costs something to write down their tails again: not for less than twice the
    // space.
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
        return IsWorthIt(going) && await EmptyAsync(segment) && await FreeAsync(going);
    }

    private async ValueTask<bool> EmptyAsync(int segment)
    {
        var written = 0;
        var stuck = false;
        var done = await ReadSegmentAsync(segment, async (record, place) =>
        {
            while (!_stopping)
            {
                switch (_handler.WithCore(core => core.Keep(record, place)))
                {
                    case KeepOutcome.Dead:
                        return true;
                    case KeepOutcome.Moved:
                        written += RecordCodec.Size(record);
                        if (written < BytesPerWait) return true;
                        written = 0;
                        await _handler.WaitDurableAsync();
                        return true;
                    case KeepOutcome.Stuck:
                        return !(stuck = true);
                    default:
                        // Where there is no room at all, other segments may need less of it.
                        if (_store.IsFull) return !(stuck = true);
                        await PauseAsync();
                        break;
                }
            }

            return false;
        });
        if (!done && !_stopping) _store.SetAside(segment);
        return done && !stuck;
    }

    private async ValueTask<bool> ReadSegmentAsync(int segment, Func<LogRecord, RecordPlace, ValueTask<bool>> visit)
    {
        try
        {
            return await _store.ReadSegmentAsync(segment, visit);
        }
        catch (IOException)
        {
            // Sectors that cannot be read: their pages become corrupt when a read meets them.
            return false;
        }
    }

    private async ValueTask<bool> FreeAsync(HashSet<int> going)
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

        // What was moved, the excuse for what goes, and the state that replaces it.
#if PLANTED
        if (!Planted.Is("segment-freed-before-its-pages"))
#endif
        await _handler.WaitDurableAsync();
        if (_stopping) return false;
        _store.Delete(going);
        UnitTelemetry.FreedSegments.Add(going.Count);
        return true;
    }

    private Task PauseAsync() => Task.Delay(BusyPause, _store.Workers.Time);
}
