using Corfu.Client;
using Salus.Coordination;
using Tango;

namespace Salus.Hosting;

/// <summary>The log that coordinates Salus, as a process uses it: a client, and a runtime with the book of
/// nodes.</summary>
public sealed class SalusLog : IAsyncDisposable
{
    private readonly CorfuClient? _owned;

    private SalusLog(TangoRuntime runtime, NodeBook nodes, CorfuClient? owned) =>
        (Runtime, Nodes, _owned) = (runtime, nodes, owned);

    public TangoRuntime Runtime { get; }

    public NodeBook Nodes { get; }

    /// <exception cref="CorfuException">The log does not answer.</exception>
    public static async Task<SalusLog> ConnectAsync(
        string connection, ILoggerFactory? loggers, CancellationToken cancellationToken = default)
    {
        var client = await CorfuClient.ConnectAsync(
            connection, null, loggers?.CreateLogger<CorfuClient>(), cancellationToken);
        return await OpenAsync(client, client, TimeProvider.System, loggers, cancellationToken);
    }

    /// <param name="client">Stays the caller's.</param>
    /// <exception cref="CorfuException">The log does not answer.</exception>
    public static Task<SalusLog> OpenAsync(CorfuClient client, TimeProvider time, ILoggerFactory? loggers,
        CancellationToken cancellationToken = default) => OpenAsync(client, null, time, loggers, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await Runtime.DisposeAsync();
        if (_owned is not null) await _owned.DisposeAsync();
    }

    private static async Task<SalusLog> OpenAsync(CorfuClient client, CorfuClient? owned, TimeProvider time,
        ILoggerFactory? loggers, CancellationToken cancellationToken)
    {
        var runtime = new TangoRuntime(client, () => new StreamCursor(client), time, SystemEntropy.Instance,
            logger: loggers?.CreateLogger<TangoRuntime>());
        try
        {
            var nodes = await runtime.OpenAsync<NodeBook>(
                NodeBook.DefaultName, OpenMode.Create, cancellationToken);
            return new SalusLog(runtime, nodes, owned);
        }
        catch (Exception e)
        {
            await runtime.DisposeAsync();
            if (owned is not null) await owned.DisposeAsync();
            if (e is TangoException) throw new CorfuException($"The book of nodes cannot be opened: {e.Message}", e);
            throw;
        }
    }
}
