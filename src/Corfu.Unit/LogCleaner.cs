using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// Gives disk space back while the unit serves (TOCS 2.6, R5): deletes segments that a prefix trim has released, and empties those of which
/// random trims have left little. One thread, which works in small steps under the handler's lock and lets each become durable before the next.
/// </summary>
internal sealed class LogCleaner : IDisposable
{
    /// <summary>Written again between two waits for durability: appends share the disk fairly.</summary>
    private const int BytesPerWait = 256 << 10;

    private const int BusyMilliseconds = 20;
    private const int StreamBytes = 32;

    private readonly UnitHandler _handler;
    private readonly ICleanableStore _store;
    private readonly WakeableThread _thread;
    private readonly Lock _one = new();
    private volatile bool _stopping;

    public LogCleaner(UnitHandler handler, ICleanableStore store, Action<Exception> failed)
    {
        _handler = handler;
        _store = store;
        _thread = new WakeableThread("corfu-unit-cleaner", Clean, failed);
        store.CleaningDue = _thread.Kick;
        _thread.Kick();
        _thread.Start();
    }

    public void Dispose()
    {
        _stopping = true;
        _store.CleaningDue = null;
        _thread.Dispose();
        if (!_handler.IsStopped && !_store.IsFull && _store.CheckpointDueAtEnd) TryCheckpoint();
    }

    private void TryCheckpoint()
    {
        try
        {
            Checkpoint();
        }
        catch (Exception error) when (error is StoreFailedException or IOException)
        {
            // The next start reads the log instead.
        }
    }

    // R3. The map and the streams change while this runs; the replay of the records that follow the beginning makes up for it.
    private void Checkpoint()
    {
        var core = new System.Buffers.ArrayBufferWriter<byte>();
        var (map, start) = _handler.WithCore(unit =>
        {
            unit.WriteCheckpoint(core);
            return _store.BeginCheckpoint();
        });
        _store.EndCheckpoint(map);
        var next = 0;
        while (_handler.WithCore(unit =>
        {
            unit.WriteStreams(core, ref next);
            return next < unit.Streams;
        }))
        {
        }

        var needs = _handler.WaitDurable();
        _store.PublishCheckpoint(map, start, needs, core.WrittenMemory);
        UnitTelemetry.Checkpoints.Add(1);
    }

    /// <summary>Returns when there is nothing to clean; also called by the thread.</summary>
    public void Clean()
    {
        try
        {
            lock (_one)
            {
                while (!_stopping && (FreeTrimmed() || EmptyOne())) UnitTelemetry.Cleanings.Add(1);
                if (!_stopping && !_store.IsFull && _store.CheckpointDue) TryCheckpoint();
            }
        }
        catch (Exception) when (_stopping || _handler.IsStopped)
        {
            // The unit has ended, or has failed and says so itself.
        }
    }

    private bool FreeTrimmed()
    {
        var mark = _handler.WithCore(core => core.TrimMark);
        var going = _store.WhollyTrimmed(mark).ToHashSet();
        return going.Count > 0 && IsWorthIt(going) && Free(going);
    }

    // With millions of idle streams it costs something to write down their tails again: not for less than twice the space.
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

    private bool EmptyOne()
    {
        var mark = _handler.WithCore(core => core.TrimMark);
        var segment = _store.Sparsest(mark);
        if (segment < 0) return false;
        HashSet<int> going = [segment];
        if (!IsWorthIt(going) || !Empty(segment)) return false;
        return Free(going);
    }

    private bool Empty(int segment)
    {
        var written = 0;
        var stuck = false;
        var done = ReadSegment(segment, (record, place) =>
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
                        _handler.WaitDurable();
                        return true;
                    case KeepOutcome.Stuck:
                        return !(stuck = true);
                    default:
                        // Where there is no room at all, other segments may need less of it.
                        if (_store.IsFull) return !(stuck = true);
                        Pause();
                        break;
                }
            }

            return false;
        });
        if (!done && !_stopping) _store.SetAside(segment);
        return done && !stuck;
    }

    private bool ReadSegment(int segment, Func<LogRecord, RecordPlace, bool> visit)
    {
        try
        {
            return _store.ReadSegment(segment, visit);
        }
        catch (IOException)
        {
            // Sectors that cannot be read: their pages become corrupt when somebody reads them.
            return false;
        }
    }

    private bool Free(HashSet<int> going)
    {
        var next = 0;
        while (!_handler.WithCore(core => core.CarryStreams(going, ref next, _store.LargestBody)))
        {
            if (_stopping) return false;
            _handler.WaitDurable();
        }

        var lsn = 0L;
        while (!_handler.WithCore(core =>
        {
            _store.AboutToFree(going);
            return core.TryAppendState() && _store.TryAppendFreed(out lsn);
        }))
        {
            if (_stopping) return false;
            Pause();
        }

        _handler.WaitDurable();
        if (_stopping) return false;
        _store.Delete(going);
        UnitTelemetry.FreedSegments.Add(going.Count);
        return true;
    }

    private static void Pause() => Thread.Sleep(BusyMilliseconds);
}
