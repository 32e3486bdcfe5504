namespace Salus.Store.Log;

/// <summary>Gives disk space back while the store serves: (1) writes again what is still needed of the oldest file, (2)
/// waits until that is durable, (3) writes the regions' states and where the log begins, (4) deletes the
/// file.</summary>
internal sealed class LogFreer : IAsyncDisposable
{
    /// <summary>Copied between two waits for durability: appends share the disk fairly.</summary>
    private const int BytesPerWait = 1 << 20;

    private static readonly TimeSpan s_busyPause = TimeSpan.FromMilliseconds(20);

    private readonly StoreLog _log;
    private readonly TimeProvider _time;
    private readonly IWorker _worker;
    private volatile bool _stopping;
    private bool _started;

    public LogFreer(StoreLog log, IWorkers workers, Action<Exception> failed)
    {
        _log = log;
        _time = workers.Time;
        _worker = workers.Create("salus-log-freer", StepAsync, failed);
    }

    public void Start()
    {
        _started = true;
        _worker.Kick();
        _worker.Start();
    }

    public void Kick() => _worker.Kick();

    public Task RunAsync() => _started ? _worker.RunAsync() : Task.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        _stopping = true;
        await _worker.DisposeAsync();
    }

    private async ValueTask StepAsync()
    {
        try
        {
            while (!_stopping && _log.NextToFree() is { } plan && await FreeAsync(plan))
            {
            }
        }
        catch (StoreFailedException)
        {
            // The log has reported it.
        }
    }

    // False: a record cannot be read, or the store ends.
    private async Task<bool> FreeAsync(FreePlan plan)
    {
        var moves = new List<PendingMove>();
        var bytes = 0;
        foreach (var (region, name) in plan.Needed)
        {
            // Null: damaged, or no longer needed. The next plan tells.
            if (await _log.ReadAsync(region, name) is not { } record) continue;
            if (!await UntilAsync(() => _log.TryCarry(record, name, plan.KeptFrom, moves))) return false;
            bytes += record.Content.Length;
            if (bytes < BytesPerWait) continue;
            bytes = 0;
            await ApplyAsync(moves);
        }

        await ApplyAsync(moves);
        // Everything needed stands elsewhere now, or the file stays.
        if (_log.NextToFree() is not { } checkedPlan || checkedPlan.Segment != plan.Segment) return false;
        if (checkedPlan.Needed.Count > 0) return !_stopping && plan.Needed.Count > checkedPlan.Needed.Count;
        if (!await UntilAsync(() => _log.TryCarryStates(plan.KeptFrom))) return false;
        await _log.WaitAppendedAsync();
        if (_stopping) return false;
        _log.DropOldest();
        return true;
    }

    private async Task ApplyAsync(List<PendingMove> moves)
    {
        if (moves.Count == 0) return;
        await _log.WaitAppendedAsync();
        _log.Apply(moves);
    }

    private async Task<bool> UntilAsync(Func<bool> step)
    {
        while (!step())
        {
            if (_stopping) return false;
            // Copies made so far may be what fills the memory.
            await _log.WaitAppendedAsync();
            await Task.Delay(s_busyPause, _time);
        }

        return true;
    }
}
