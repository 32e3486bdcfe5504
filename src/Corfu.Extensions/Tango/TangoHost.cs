using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Tango;

namespace Corfu.Extensions;

internal sealed class TangoHost(ICorfuConnection connection, IOptions<TangoSettings> settings, ILoggerFactory loggers,
    TimeProvider time)
    : ITangoHost, IAsyncDisposable
{
    private readonly SemaphoreSlim _gate = new(1, 1);

    // Written once, under _gate.
    private TangoRuntime? _runtime;

    /// <summary>Null until somebody has asked for it.</summary>
    public TangoRuntime? Current => Volatile.Read(ref _runtime);

    public async Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default)
    {
        if (Current is { } runtime) return runtime;
        await _gate.WaitAsync(cancellationToken);
        try
        {
            if (_runtime is null)
            {
                var client = await connection.GetClientAsync(cancellationToken);
                var made = new TangoRuntime(
                    client, () => new StreamCursor(client), time, SystemEntropy.Instance, settings.Value.Runtime,
                    loggers.CreateLogger<TangoRuntime>());
                Volatile.Write(ref _runtime, made);
            }

            return _runtime!;
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
