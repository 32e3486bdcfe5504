using Salus.Region.Core;
using Salus.Region.Recovery;

namespace Salus.Region;

/// <summary>A region at this process, from generation to generation: the one before has ended, and its body is
/// closed, before the next one is recovered. Used by the server's loop alone, but for <see cref="Core"/>.</summary>
internal sealed class ServedRegion(RegionServices services, RegionKey key, IRegionRecovery recovery)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(500);

    private CancellationTokenSource? _stop;
    private Task _serving = Task.CompletedTask;
    private volatile RegionCore? _core;

    /// <summary>The generation that is served or recovered; none: this process is no member.</summary>
    public Epoch Generation { get; private set; }

    /// <summary>Null: the region is being recovered here, or is not served. Any thread.</summary>
    public RegionCore? Core => _core;

    /// <summary>The region is served no longer, and its body is closed. Any thread.</summary>
    public bool HasEnded => Volatile.Read(ref _serving).IsCompleted;

    /// <summary>Goes on with that generation, of which this process is a member.</summary>
    public void Follow(RegionGeneration generation, VolumeGeometry geometry)
    {
        if (generation.Number <= Generation) return;
        Generation = generation.Number;
        _stop?.Cancel();
        var (before, stop) = (_serving, new CancellationTokenSource());
        _stop = stop;
        _serving = services.Loops.RunAsync(() => ServeAsync(generation, geometry, before, stop));
    }

    /// <summary>This process serves the region no longer, but may again in a later generation.</summary>
    public Task EndAsync()
    {
        _stop?.Cancel();
        return _serving;
    }

    private async Task ServeAsync(
        RegionGeneration generation, VolumeGeometry geometry, Task before, CancellationTokenSource stop)
    {
        await before;
        try
        {
            var core = await OpenAsync(generation, geometry, stop.Token);
            _core = core;
            core.Wake();
            var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using (stop.Token.Register(() => ended.TrySetResult())) await ended.Task;
        }
        catch (Exception error) when (error is OperationCanceledException
            || (stop.IsCancellationRequested && error is CorfuException or IOException))
        {
            // The recovery was given up, be it that the store failed meanwhile.
        }

        if (_core is { } served) await served.EndAsync(Status.Sealed);
        _core = null;
    }

    private async Task<RegionCore> OpenAsync(
        RegionGeneration generation, VolumeGeometry geometry, CancellationToken cancellationToken)
    {
        var begun = services.Time.GetTimestamp();
        while (true)
        {
            try
            {
                var recovered = await recovery.RecoverAsync(key, generation, cancellationToken);
                RegionTelemetry.RecoveryTime.Record(services.Time.GetElapsedTime(begun).TotalSeconds);
                return new RegionCore(services, key, generation, geometry, recovered);
            }
            catch (Exception error) when (error is CorfuException or IOException
                && !cancellationToken.IsCancellationRequested)
            {
                RegionTelemetry.FailedRecoveries.Add(1);
                await Task.Delay(s_pause, services.Time, cancellationToken);
            }
        }
    }
}
