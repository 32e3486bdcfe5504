namespace Salus.Region.Core;

/// <summary>The turns of one region: pieces of work that run one after another, in the order in which they came. A
/// piece may wait for the disk; none runs meanwhile, and no lock is held.</summary>
internal sealed class RegionTurns(LoopContext loops)
{
    // A thread that brought one turn does not work for the others for ever.
    private const int MostAtOnce = 32;

    private readonly Lock _gate = new();
    private readonly Queue<Func<ValueTask>> _waiting = new();
    private bool _isRunning;

    /// <summary>Runs the turn, at once if no other one runs. It sees to its own failures.</summary>
    public void Post(Func<ValueTask> turn)
    {
        if (TryStart(turn)) loops.Start(RunAsync);
    }

    /// <summary>As <see cref="Post"/>, but never within this call.</summary>
    public void PostLater(Func<ValueTask> turn)
    {
        if (!TryStart(turn)) return;
        loops.Start(async () =>
        {
            await Task.Yield();
            await RunAsync();
        });
    }

    private bool TryStart(Func<ValueTask> turn)
    {
        lock (_gate)
        {
            _waiting.Enqueue(turn);
            if (_isRunning) return false;
            return _isRunning = true;
        }
    }

    private async Task RunAsync()
    {
        for (var run = 1; Next() is { } turn; run++)
        {
            try
            {
                await turn();
            }
            catch (Exception)
            {
                // A turn has told of its failure: the others go on, and be it to refuse.
            }

            if (run % MostAtOnce == 0) await Task.Yield();
        }
    }

    private Func<ValueTask>? Next()
    {
        lock (_gate)
        {
            if (_waiting.TryDequeue(out var turn)) return turn;
            _isRunning = false;
            return null;
        }
    }
}
