using Corfu;
using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Salus.Coordination;
using Tango;

namespace Salus;

/// <summary>The log that coordinates Salus, as a process uses it: a client, and a runtime that follows the nodes and
/// volumes.</summary>
public sealed class SalusLog : IAsyncDisposable
{
    private readonly CorfuClient _client;

    private SalusLog(CorfuClient client, TangoRuntime runtime, VolumeMap map, TimeProvider time)
    {
        _client = client;
        Runtime = runtime;
        Map = map;
        Admin = new SalusAdmin(runtime, map, time, SystemEntropy.Instance);
    }

    public TangoRuntime Runtime { get; }

    public VolumeMap Map { get; }

    /// <summary>The commands of operators.</summary>
    public SalusAdmin Admin { get; }

    /// <summary>The cluster of the log, which the nodes belong to as well.</summary>
    public ClusterId Cluster => _client.Cluster.Projection.Cluster;

    /// <exception cref="CorfuException">The log does not answer.</exception>
    public static async Task<SalusLog> ConnectAsync(string connection, CorfuClientOptions? options = null,
        ILoggerFactory? loggers = null, CancellationToken cancellationToken = default) =>
        await OpenAsync(await CorfuClient.ConnectAsync(
            connection, options, loggers?.CreateLogger<CorfuClient>(), cancellationToken), TimeProvider.System, loggers,
            cancellationToken);

    /// <param name="client">Closed with the log, also where this fails.</param>
    /// <exception cref="CorfuException">The log does not answer.</exception>
    public static async Task<SalusLog> OpenAsync(CorfuClient client, TimeProvider time, ILoggerFactory? loggers = null,
        CancellationToken cancellationToken = default)
    {
        var runtime = new TangoRuntime(client, () => new StreamCursor(client), time, SystemEntropy.Instance,
            logger: loggers?.CreateLogger<TangoRuntime>());
        try
        {
            var map = await VolumeMap.OpenAsync(runtime, time, LoopContext.Pool, cancellationToken);
            return new SalusLog(client, runtime, map, time);
        }
        catch (Exception e)
        {
            await runtime.DisposeAsync();
            await client.DisposeAsync();
            if (e is TangoException)
                throw new CorfuException($"The nodes and volumes of the log cannot be read: {e.Message}", e);
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Map.DisposeAsync();
        await Runtime.DisposeAsync();
        await _client.DisposeAsync();
    }
}
