using Corfu.Client;
using Craq.Agent;
using Craq.Coordination;
using Craq.Hosting.Memcached;
using Craq.Storage;
using Tango;

namespace Craq.Hosting;

/// <summary>A node with all that it needs of its process: folder, connections, log, agent, and memcached's
/// listeners.</summary>
internal sealed class RunningCraqNode : IAsyncDisposable
{
    private readonly CraqNode _node;
    private readonly LogDirectory _directory;
    private readonly Stack<IAsyncDisposable> _owned;

    private RunningCraqNode(CraqNode node, LogDirectory directory, Stack<IAsyncDisposable> owned)
    {
        _node = node;
        _directory = directory;
        _owned = owned;
    }

    public IRoleHandler Handler => _node.Handler;

    public Task<Exception> Fault => _node.Fault;

    /// <summary>Empty while all is well.</summary>
    public string Warning => _directory.Trouble ?? "";

    /// <summary>Recovers the node's chains. The log may be away, and the process does not listen yet.</summary>
    /// <exception cref="Corfu.Server.ListenException">A memcached port is occupied.</exception>
    /// <exception cref="CorfuException">The store lacks something that was acknowledged.</exception>
    public static async Task<RunningCraqNode> OpenAsync(RoleStart start, CraqNodeSettings settings)
    {
        var owned = new Stack<IAsyncDisposable>();
        try
        {
            var transport = Own(owned, new TcpTransport(
                new TcpTransportOptions { Cluster = start.Cluster, Tls = start.Tls }, start.Time,
                logger: start.Loggers.CreateLogger<TcpTransport>()));
            var directory = new LogDirectory(token => ConnectAsync(start, token), start.Time, LoopContext.Pool,
                start.Loggers.CreateLogger<LogDirectory>());
            owned.Push(directory);
            var store = NodeStores.OpenFolder(start.Folder, start.Id, settings.Store, mustExist: !start.IsNew);
            var options = new CraqNodeOptions();
            CraqNode node;
            try
            {
                node = await CraqNode.OpenAsync(start.Id, store, directory, transport, start.Time, options);
            }
            catch
            {
                await store.DisposeAsync();
                throw;
            }

            owned.Push(node);
            // Before the process listens. Until the log answers the agent sees an empty directory, and does nothing.
            owned.Push(NodeAgent.Attach(node.Handler, store,
                Parts(start, directory, transport, options, owned), start.Time,
                loops: null, start.Loggers.CreateLogger<CraqAgent>()));
            if (settings.Listeners.Length > 0) await ListenAsync(start, settings, owned);
            directory.Start(
                new DirectoryNode(start.Id, settings.Datacenter, start.Endpoint, DirectoryNodeState.Active),
                settings.LeaseTime);
            return new RunningCraqNode(node, directory, owned);
        }
        catch
        {
            await CloseAsync(owned);
            throw;
        }
    }

    public ValueTask DisposeAsync() => CloseAsync(_owned);

    private static async Task ListenAsync(
        RoleStart start, CraqNodeSettings settings, Stack<IAsyncDisposable> owned)
    {
        // Clients that nothing authenticates get no more of the node's rights than they need.
        var tcp = CraqClientOptions.Default.Tcp with
        {
            Cluster = start.Cluster,
            Tls = start.Tls,
            Role = AccessRole.Client,
        };
        var transport = Own(owned, new TcpTransport(tcp, start.Time,
            logger: start.Loggers.CreateLogger<TcpTransport>()));
        var client = new CraqClient([new NodeAddress(start.Id, start.Endpoint)], transport, start.Time,
            SystemEntropy.Instance, CraqClientOptions.Default with { Datacenter = settings.Datacenter },
            start.Loggers.CreateLogger<CraqClient>());
        owned.Push(client);
        foreach (var listener in settings.Listeners)
            owned.Push(await MemcachedListener.StartAsync(listener,
                client.Keyspace(listener.Keyspace).With(listener.Terms), start.Loggers, start.Time,
                CancellationToken.None));
    }

    private static NodeAgentParts Parts(RoleStart start, LogDirectory directory, ITransport transport,
        CraqNodeOptions options, Stack<IAsyncDisposable> owned)
    {
        var agent = new CraqAgentOptions();
        // A connection whose probes are not answered is given up before silence counts; back-off never hides a node for
        // longer than a step.
        var probes = Own(owned, new TcpTransport(new TcpTransportOptions
        {
            Cluster = start.Cluster,
            Tls = start.Tls,
            ConnectTimeout = agent.ProbeLimit,
            RequestTimeout = agent.ProbeLimit * 1.5,
            MaxBackOff = agent.Step / 2,
            ReceiveBuffer = 16 << 10,
        }, start.Time));
        return new NodeAgentParts(directory, directory, transport, options, agent) { Probes = probes };
    }

    private static async Task<LogSession> ConnectAsync(RoleStart start, CancellationToken cancellationToken)
    {
        var options = start.Tls is { } tls
            ? CorfuClientOptions.Default with { Tls = new TlsOptions { Source = tls.Source } }
            : CorfuClientOptions.Default;
        var client = await CorfuClient.ConnectAsync(
            start.Connection, options, start.Loggers.CreateLogger<CorfuClient>(), cancellationToken);
        return new LogSession(new TangoRuntime(client, () => new StreamCursor(client), start.Time,
            SystemEntropy.Instance, logger: start.Loggers.CreateLogger<TangoRuntime>()), client);
    }

    private static TcpTransport Own(Stack<IAsyncDisposable> owned, TcpTransport transport)
    {
        owned.Push(new Closing(transport));
        return transport;
    }

    // Newest first: listeners, the agent, the node, then what the node uses.
    private static async ValueTask CloseAsync(Stack<IAsyncDisposable> owned)
    {
        while (owned.TryPop(out var one)) await one.DisposeAsync();
    }

    private sealed class Closing(IDisposable inner) : IAsyncDisposable
    {
        public ValueTask DisposeAsync()
        {
            inner.Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
