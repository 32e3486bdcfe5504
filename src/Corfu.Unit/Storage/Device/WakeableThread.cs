namespace Corfu.Unit;

/// <summary>
/// A thread that sleeps until there is work. Work is never lost: a kick during a step causes another step. An exception of the step
/// is reported and ends the thread.
/// </summary>
internal sealed class WakeableThread : IDisposable
{
    private const int SpinsBeforeSleep = 20;

    private readonly ManualResetEventSlim _signal = new(false, SpinsBeforeSleep);
    private readonly Action _step;
    private readonly Action<Exception> _failed;
    private readonly Thread _thread;
    private int _work;
    private int _wakeAfter = Timeout.Infinite;
    private volatile bool _stopping;
    private bool _started;

    public WakeableThread(string name, Action step, Action<Exception> failed)
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

    /// <summary>From within a step: take another one after that time even without a kick.</summary>
    public void WakeAfter(int milliseconds) => _wakeAfter = milliseconds;

    /// <summary>Waits for the running step, then takes one last.</summary>
    public void Dispose()
    {
        _stopping = true;
        Kick();
        if (_started && Thread.CurrentThread != _thread) _thread.Join();
    }

    private void Run()
    {
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
                _step();
                if (last) return;
            }
        }
        catch (Exception error)
        {
            _failed(error);
        }
    }
}
