using Corfu.Client;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Tango;

namespace Corfu.Extensions;

/// <summary>The host's one Tango runtime: all its objects share one playback order.</summary>
public interface ITangoHost
{
    /// <summary>The runtime over the host's client, made at the first call. The host owns it.</summary>
    Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default);
}

internal sealed class TangoHost(ICorfuConnection connection, IOptions<TangoSettings> settings, ILoggerFactory loggers,
    TimeProvider time) : ITangoHost, IAsyncDisposable
{
    private readonly SemaphoreSlim _gate = new(1, 1);

    // Written once, under _gate.
    private volatile TangoRuntime? _runtime;

    /// <summary>Null until the first use.</summary>
    public TangoRuntime? Current => _runtime;

    public async Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default)
    {
        if (Current is { } runtime) return runtime;
        await _gate.WaitAsync(cancellationToken);
        try
        {
            if (_runtime is { } made) return made;
            var client = await connection.GetClientAsync(cancellationToken);
            return _runtime = new TangoRuntime(client, () => new StreamCursor(client), time, SystemEntropy.Instance,
                settings.Value.Runtime, loggers.CreateLogger<TangoRuntime>());
        }
        finally
        {
            _gate.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Current is { } runtime) await runtime.DisposeAsync();
        _gate.Dispose();
    }
}
