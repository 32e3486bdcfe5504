namespace Corfu.WebConsole.Collecting;

/// <summary>Repeats a round while pages want it, and rests otherwise. A round that fails ends nothing: the next one
/// follows after the same pause.</summary>
/// <param name="rest">How long after the last sign of a page the loop goes on.</param>
/// <param name="round">Ends with its token. Rounds follow one another.</param>
/// <param name="failed">Hears of each round that failed.</param>
internal sealed class WantedLoop(TimeProvider time, TimeSpan interval, TimeSpan rest,
    Func<CancellationToken, Task> round, Action<Exception> failed) : IAsyncDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _gate = new();

    // Guarded by _gate. Not null if and only if the loop runs: it is cleared by the same look that finds no page.
    private Task? _running;
    private int _viewers;
    private DateTimeOffset _wantedUntil;

    /// <summary>Cancelled when the console ends.</summary>
    public CancellationToken Stopped => _stop.Token;

    /// <summary>A page wants the newest round.</summary>
    /// <param name="starting">Called before the first round, if the loop was at rest.</param>
    /// <returns>True: the loop was at rest.</returns>
    public bool Wake(Action? starting = null)
    {
        lock (_gate)
        {
            _wantedUntil = time.GetUtcNow() + rest;
            if (_running is not null || _stop.IsCancellationRequested) return false;
            starting?.Invoke();
            _running = LoopContext.Pool.RunAsync(RunAsync);
            return true;
        }
    }

    /// <summary>Keeps the loop awake until the result is disposed.</summary>
    public IDisposable Hold()
    {
        lock (_gate)
        {
            _viewers++;
            Wake();
        }

        return new Viewer(this);
    }

    public async ValueTask DisposeAsync()
    {
        Task? running;
        lock (_gate)
        {
            _stop.Cancel();
            running = _running;
        }

        if (running is not null) await running;
        _stop.Dispose();
    }

    private void Release()
    {
        lock (_gate)
        {
            _viewers--;
            _wantedUntil = time.GetUtcNow() + rest;
        }
    }

    private bool IsOver()
    {
        lock (_gate)
        {
            var isWanted = _viewers > 0 || time.GetUtcNow() < _wantedUntil;
            if (isWanted && !_stop.IsCancellationRequested) return false;
            _running = null;
            return true;
        }
    }

    private async Task RunAsync()
    {
        // The caller holds the gate.
        await Task.Yield();
        while (!IsOver())
        {
            var began = time.GetTimestamp();
            try
            {
                await round(_stop.Token);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                // The console ends.
            }
            catch (Exception e)
            {
                failed(e);
            }

            var left = interval - time.GetElapsedTime(began);
            if (left > TimeSpan.Zero)
                await Task.Delay(left, time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private sealed class Viewer(WantedLoop loop) : IDisposable
    {
        private int _isDisposed;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _isDisposed, 1) != 0) return;
            loop.Release();
        }
    }
}
