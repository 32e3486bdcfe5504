using Corfu.Client;
using Salus.Coordination;
using Tango;

namespace Salus.Hosting;

/// <summary>The log that coordinates Salus, as a process uses it: a client, and a runtime with the book of nodes and
/// the directory of volumes.</summary>
public sealed class SalusLog : IAsyncDisposable
{
    private readonly CorfuClient _client;

    private SalusLog(CorfuClient client, TangoRuntime runtime, NodeBook nodes, VolumeDirectory volumes)
    {
        _client = client;
        Runtime = runtime;
        Nodes = nodes;
        Volumes = volumes;
    }

    public TangoRuntime Runtime { get; }

    public NodeBook Nodes { get; }

    public VolumeDirectory Volumes { get; }

    /// <exception cref="CorfuException">The log does not answer.</exception>
    public static async Task<SalusLog> ConnectAsync(
        string connection, ILoggerFactory? loggers = null, CancellationToken cancellationToken = default) =>
        await OpenAsync(await CorfuClient.ConnectAsync(
            connection, null, loggers?.CreateLogger<CorfuClient>(), cancellationToken), TimeProvider.System, loggers,
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
            return new SalusLog(client, runtime,
                await runtime.OpenAsync<NodeBook>(NodeBook.DefaultName, OpenMode.Create, cancellationToken),
                await VolumeDirectory.OpenAsync(runtime, cancellationToken));
        }
        catch (Exception e)
        {
            await runtime.DisposeAsync();
            await client.DisposeAsync();
            if (e is TangoException) throw new CorfuException($"The book of nodes cannot be opened: {e.Message}", e);
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Runtime.DisposeAsync();
        await _client.DisposeAsync();
    }
}
