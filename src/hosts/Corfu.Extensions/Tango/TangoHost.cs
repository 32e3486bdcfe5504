using System.Diagnostics.Metrics;
using Corfu.Client;
using Microsoft.Extensions.Logging;
using Tango;

namespace Corfu.Extensions;

/// <summary>A Tango runtime of the host: all objects of one share one playback order.</summary>
public interface ITangoHost
{
    /// <summary>The runtime over the host's client, made at the first call. The host owns it.</summary>
    Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default);
}

/// <param name="key">Null: the host's only runtime, or its default one.</param>
internal sealed class TangoHost(
    ICorfuConnection connection, TangoSettings settings, string? key, IMeterFactory? meters, ILoggerFactory loggers,
    TimeProvider time) : ITangoHost, IAsyncDisposable
{
    private readonly Lock _gate = new();

    // Written once, under _gate.
    private volatile TangoRuntime? _runtime;

    /// <summary>Null until the first use.</summary>
    public TangoRuntime? Current => _runtime;

    public async Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default)
    {
        if (Current is { } runtime) return runtime;
        // Not under the gate: calls share an attempt to connect.
        var client = await connection.GetClientAsync(cancellationToken);
        lock (_gate)
        {
            if (_runtime is { } made) return made;
            made = new TangoRuntime(client, () => new StreamCursor(client), time, SystemEntropy.Instance,
                settings.Runtime, loggers.CreateLogger<TangoRuntime>());
            if (meters is not null) TangoMeters.Add(meters, made.Directory.ReadFigures, key);
            return _runtime = made;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Current is { } runtime) await runtime.DisposeAsync();
    }
}
