namespace Salus.Region.Body;

/// <summary>Writes the files of a node's regions, one at a time: they share a disk. Work that fails is tried again, and
/// holds back no other region meanwhile.</summary>
internal sealed class FileWork : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly LinkedList<RegionWork> _regions = [];
    private readonly IWorker _worker;

    public FileWork(IWorkers workers, Action<Exception> failed)
    {
        Time = workers.Time;
        _worker = workers.Create("salus-files", StepAsync, failed);
        _worker.Start();
    }

    public TimeProvider Time { get; }

    /// <summary>The queue of a region; it takes turns with those of the others.</summary>
    public RegionWork Add()
    {
        var work = new RegionWork(this);
        lock (_gate) _regions.AddLast(work);
        return work;
    }

    public void Kick() => _worker.Kick();

    public void Remove(RegionWork work)
    {
        lock (_gate) _regions.Remove(work);
    }

    public ValueTask DisposeAsync() => _worker.DisposeAsync();

    private async ValueTask StepAsync()
    {
        var pause = TimeSpan.MaxValue;
        while (!_worker.IsStopping && Next(out pause) is { } work) await work.StepAsync();
        if (pause < TimeSpan.MaxValue) _worker.WakeAfter((int)pause.TotalMilliseconds + 1);
    }

    // The region that has waited longest goes first. None: the time until one is to be tried again.
    private RegionWork? Next(out TimeSpan pause)
    {
        pause = TimeSpan.MaxValue;
        lock (_gate)
        {
            for (var node = _regions.First; node is not null; node = node.Next)
            {
                if (node.Value.ReadyIn() is not { } left) continue;
                if (left > TimeSpan.Zero)
                {
                    if (left < pause) pause = left;
                    continue;
                }

                _regions.Remove(node);
                _regions.AddLast(node);
                return node.Value;
            }

            return null;
        }
    }
}

/// <summary>The work at one region's files, in the order of asking, one at a time (S18). A job that fails stays at the
/// front, and all others wait behind it.</summary>
internal sealed class RegionWork(FileWork owner) : IAsyncDisposable
{
    private static readonly TimeSpan s_firstPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private readonly Queue<Job> _jobs = new();
    private TimeSpan _pause;
    private long _failedAt;
    private string? _fault;
    private TaskCompletionSource? _running;
    private bool _isClosed;

    /// <summary>Why the job at the front has failed, for people; null: it has not.</summary>
    public string? Fault
    {
        get
        {
            lock (_gate) return _fault;
        }
    }

    /// <summary>Jobs that wait or run.</summary>
    public int Count
    {
        get
        {
            lock (_gate) return _jobs.Count;
        }
    }

    /// <summary>Does a job behind all others. It is tried again after an <see cref="IOException"/> or a
    /// <see cref="MalformedDataException"/>, from its beginning.</summary>
    /// <exception cref="OperationCanceledException">The region was closed before.</exception>
    /// <exception cref="DivergedBodyException">No further attempt helps.</exception>
    public Task<T> RunAsync<T>(Func<ValueTask<T>> job)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (_isClosed) return Task.FromCanceled<T>(new CancellationToken(canceled: true));
            _jobs.Enqueue(new Job(async () => done.TrySetResult(await job()), error =>
            {
                if (error is null) done.TrySetCanceled();
                else done.TrySetException(error);
            }));
        }

        owner.Kick();
        return done.Task;
    }

    /// <summary>Tries the failed job at once: its cause has been mended.</summary>
    public void Retry()
    {
        lock (_gate) _pause = TimeSpan.Zero;
        owner.Kick();
    }

    /// <summary>Null: there is nothing to do.</summary>
    public TimeSpan? ReadyIn()
    {
        lock (_gate)
        {
            if (_isClosed || _jobs.Count == 0) return null;
            return _pause == TimeSpan.Zero ? TimeSpan.Zero : _pause - owner.Time.GetElapsedTime(_failedAt);
        }
    }

    public async ValueTask StepAsync()
    {
        Job job;
        lock (_gate)
        {
            if (_isClosed || !_jobs.TryPeek(out job!)) return;
            _running = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        Exception? error = null;
        try
        {
            await job.Do();
        }
        catch (Exception caught) when (caught is IOException or UnauthorizedAccessException or MalformedDataException)
        {
            error = caught;
        }
        catch (DivergedBodyException caught)
        {
            job.End(caught);
        }
        catch (Exception caught)
        {
            job.End(caught);
            throw;
        }
        finally
        {
            End(error);
        }
    }

    /// <summary>Waits for the running job; those behind it are cancelled.</summary>
    public async ValueTask DisposeAsync()
    {
        Task? running;
        Job[] waiting;
        lock (_gate)
        {
            if (_isClosed) return;
            _isClosed = true;
            running = _running?.Task;
            waiting = [.. _jobs];
            _jobs.Clear();
        }

        if (running is not null) await running;
        owner.Remove(this);
        foreach (var job in waiting) job.End(null);
    }

    private void End(Exception? error)
    {
        TaskCompletionSource ended;
        lock (_gate)
        {
            (ended, _running) = (_running!, null);
            _fault = error?.Message;
            if (error is null)
            {
                _pause = TimeSpan.Zero;
                if (!_isClosed) _jobs.Dequeue();
            }
            else
            {
                _failedAt = owner.Time.GetTimestamp();
                _pause = _pause == TimeSpan.Zero
                    ? s_firstPause
                    : TimeSpan.FromTicks(Math.Min(2 * _pause.Ticks, s_longestPause.Ticks));
            }
        }

        ended.SetResult();
    }

    private sealed record Job(Func<ValueTask> Do, Action<Exception?> End);
}
