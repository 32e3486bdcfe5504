namespace Corfu.Storage;

/// <summary>Each worker is a thread of its own, which waits for the end of a step that continues on the thread
/// pool.</summary>
public sealed class ThreadWorkers : IWorkers
{
    public static readonly ThreadWorkers Instance = new();

    public TimeProvider Time => TimeProvider.System;

    public IWorker Create(string name, Func<ValueTask> step, Action<Exception> failed) =>
        new ThreadWorker(name, step, failed);
}

internal sealed class ThreadWorker : IWorker
{
    private const int SpinsBeforeSleep = 20;

    private readonly ManualResetEventSlim _signal = new(false, SpinsBeforeSleep);
    private readonly Func<ValueTask> _step;
    private readonly Action<Exception> _failed;
    private readonly Thread _thread;

    // Guarded by itself; each completes with the next whole step, all with the thread's end.
    private readonly List<TaskCompletionSource> _waiting = [];
    private int _work;
    private int _wakeAfter = Timeout.Infinite;
    private volatile bool _stopping;
    private bool _started;
    private bool _ended;

    public ThreadWorker(string name, Func<ValueTask> step, Action<Exception> failed)
    {
        _step = step;
        _failed = failed;
        _thread = new Thread(Run) { Name = name, IsBackground = true };
    }

    public bool IsStopping => _stopping;

    public void Start()
    {
        _started = true;
        _thread.Start();
    }

    public void Kick()
    {
        if (Interlocked.Exchange(ref _work, 1) == 0) _signal.Set();
    }

    public void WakeAfter(int milliseconds) => _wakeAfter = milliseconds;

    public Task RunAsync()
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_waiting)
        {
            if (_ended) return Task.CompletedTask;
            _waiting.Add(done);
        }

        Kick();
        return done.Task;
    }

    public ValueTask DisposeAsync()
    {
        _stopping = true;
        Kick();
        if (_started && Thread.CurrentThread != _thread) _thread.Join();
        return ValueTask.CompletedTask;
    }

    private void Run()
    {
        TaskCompletionSource[] waiting = [];
        try
        {
            while (true)
            {
                if (Interlocked.Exchange(ref _work, 0) == 0)
                {
                    var timeout = _wakeAfter;
                    _wakeAfter = Timeout.Infinite;
                    if (_signal.Wait(timeout))
                    {
                        _signal.Reset();
                        continue;
                    }
                }

                var last = _stopping;
                waiting = TakeWaiting(ends: false);
                // Without a synchronization context: answers are sent from within steps, and their awaits outlive the
                // step.
                _step().AsTask().GetAwaiter().GetResult();
                foreach (var done in waiting) done.SetResult();
                if (last) return;
            }
        }
        catch (Exception error)
        {
            _failed(error);
        }
        finally
        {
            foreach (var done in waiting.Concat(TakeWaiting(ends: true))) done.TrySetResult();
        }
    }

    private TaskCompletionSource[] TakeWaiting(bool ends)
    {
        lock (_waiting)
        {
            _ended = ends;
            if (_waiting.Count == 0) return [];
            TaskCompletionSource[] taken = [.. _waiting];
            _waiting.Clear();
            return taken;
        }
    }
}
