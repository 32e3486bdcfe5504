using Corfu.Client;
using Salus.Store;
using Salus.Store.Log;
using Salus.Store.Shell;

namespace Salus.Hosting;

/// <summary>A node with all that it needs of its process: the store in its folder, connections, and its terms in the
/// log.</summary>
internal sealed class RunningSalusNode : IAsyncDisposable
{
    private readonly StoreFolder _store;
    private readonly NodeTerms _terms;
    private readonly TcpTransport _transport;

    private RunningSalusNode(IRoleHandler handler, StoreFolder store, NodeTerms terms, TcpTransport transport)
    {
        Handler = handler;
        _store = store;
        _terms = terms;
        _transport = transport;
    }

    public IRoleHandler Handler { get; }

    /// <summary>Completes when the store has failed.</summary>
    public Task<Exception> Fault => _store.Log.Fault;

    /// <summary>Empty while all is well.</summary>
    public string Warning => _store.Log.State == StoreState.Salvaged
        ? "the store's log is not whole: the store shows what has a certificate to recoveries and takes nothing new. "
            + "Make a new node; this one may go when 'corfu volume list' shows every region whole"
        : _terms.Trouble ?? "";

    /// <summary>Reads the store's log back. The log that coordinates may be away, and the process does not listen
    /// yet.</summary>
    /// <exception cref="CorfuException">The store lacks its log.</exception>
    public static async Task<RunningSalusNode> OpenAsync(RoleStart start, SalusNodeSettings settings)
    {
        var store = await StoreFolder.OpenAsync(start.Folder, start.Id, settings.Store, mustExist: !start.IsNew);
        var transport = new TcpTransport(
            new TcpTransportOptions { Cluster = start.Cluster, Tls = start.Tls }, start.Time,
            logger: start.Loggers.CreateLogger<TcpTransport>());
        var generations = new KnownGenerations();
        var handler = new StoreHandler(start.Id, store.Log, store.Files, generations);
        var terms = new NodeTerms(start, settings, store, transport, generations);
        terms.Start();
        return new RunningSalusNode(handler, store, terms, transport);
    }

    public async ValueTask DisposeAsync()
    {
        await _terms.DisposeAsync();
        _transport.Dispose();
        await _store.DisposeAsync();
    }
}
