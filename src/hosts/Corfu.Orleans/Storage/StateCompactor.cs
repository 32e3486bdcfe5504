using Microsoft.Extensions.Logging;
using Tango.Collections;

namespace Corfu.Orleans.Storage;

/// <summary>Writes old states again now and then, so that the log is not kept for them. Every silo looks for them at
/// times of its own; the one that has the lock writes them.</summary>
internal sealed partial class StateCompactor(
    SharedObject<StateIndex> index, SharedObject<TangoLock> turns, CorfuOrleansRuntime runtime,
    CorfuGrainStorageOptions options, TimeProvider time, ILogger logger)
{
    // The turn of a silo that dies meanwhile ends after this; the next silo goes on.
    private static readonly TimeSpan s_timeToLive = TimeSpan.FromSeconds(30);

    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;

    public void Start() => _running = LoopContext.Pool.RunAsync(RunAsync);

    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await _running;
    }

    /// <returns>How many states were written again; none where another silo does it.</returns>
    public async Task<int> CompactAsync(CancellationToken cancellationToken)
    {
        var end = (await runtime.GetAsync(cancellationToken)).Log.PlayedTo;
        if (end.Offset <= options.MaxLogSpan) return 0;
        var states = await index.GetAsync(cancellationToken);
        // Each state that is written again takes a position: of more states than the span has positions, some would
        // always stand too far behind.
        var span = Math.Max(options.MaxLogSpan, 2L * await states.CountAsync(cancellationToken));
        if (end.Offset <= span) return 0;
        var below = new LogPosition(end.Offset - span);
        if (!await states.HasBelowAsync(below.Offset, cancellationToken)) return 0;
        return await turns.RunAsync(
            "Writing old states again", turn => InTurnAsync(turn, states, below, cancellationToken),
            cancellationToken);
    }

    private async ValueTask<int> InTurnAsync(
        TangoLock turns, StateIndex states, LogPosition below, CancellationToken cancellationToken)
    {
        await using var turn = await turns.TryAcquireAsync(
            s_timeToLive, Environment.MachineName, cancellationToken);
        if (turn is null) return 0;
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, turn.Lost);
        var (moved, failed, failure) = await states.CompactAsync(below, stop.Token);
        if (failed > 0) LogNotMoved(failure!, failed);
        return moved;
    }

    private async Task RunAsync()
    {
        while (true)
        {
            try
            {
                // Spread: silos that start together do not compact together.
                var pause = options.CompactionPeriod * (0.5 + Random.Shared.NextDouble());
                await Task.Delay(pause, time, _stop.Token);
                var moved = await CompactAsync(_stop.Token);
                if (moved > 0) LogMoved(moved);
            }
            catch (Exception) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e)
            {
                // Without the loop the log would grow, and nothing would say so.
                LogFailed(e);
            }
        }
    }

    [LoggerMessage(LogLevel.Information, "{Count} old states were written again")]
    private partial void LogMoved(int count);

    [LoggerMessage(LogLevel.Error, "{Count} old states could not be written again; the log is kept for them")]
    private partial void LogNotMoved(Exception exception, int count);

    [LoggerMessage(LogLevel.Warning, "Old states could not be written again; the next turn goes on with them")]
    private partial void LogFailed(Exception exception);
}
