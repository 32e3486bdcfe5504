using Microsoft.Extensions.Logging;

namespace Corfu.Orleans.Storage;

/// <summary>Writes old states again now and then, so that the log is not kept for them. Every silo does it at times of
/// its own; what one has moved the others leave alone.</summary>
internal sealed partial class StateCompactor(
    SharedObject<StateIndex> index, CorfuOrleansRuntime runtime, CorfuGrainStorageOptions options, TimeProvider time,
    ILogger logger)
{
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;

    public void Start() => _running = RunAsync();

    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await _running;
    }

    /// <returns>How many states were written again.</returns>
    public async Task<int> CompactAsync(CancellationToken cancellationToken)
    {
        var end = (await runtime.GetAsync(cancellationToken)).PlayedTo;
        if (end.Offset <= options.MaxLogSpan) return 0;
        var states = await index.GetAsync(cancellationToken);
        // Each state that is written again takes a position: of more states than the span has positions, some would
        // always stand too far behind.
        var span = Math.Max(options.MaxLogSpan, 2L * await states.CountAsync(cancellationToken));
        if (end.Offset <= span) return 0;
        return await states.CompactAsync(new LogPosition(end.Offset - span), cancellationToken);
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
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e) when (CorfuOrleansException.Covers(e))
            {
                LogFailed(e);
            }
        }
    }

    [LoggerMessage(LogLevel.Information, "{Count} old states were written again")]
    private partial void LogMoved(int count);

    [LoggerMessage(LogLevel.Warning, "Old states could not be written again; the next turn goes on with them")]
    private partial void LogFailed(Exception exception);
}
