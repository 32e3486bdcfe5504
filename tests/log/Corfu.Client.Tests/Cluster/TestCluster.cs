using System.Collections.Immutable;
using Corfu.Client.Layout;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Sequencer;
using Corfu.Unit;

namespace Corfu.Client.Tests.Cluster;

/// <summary>The real cores behind a direct transport: units in memory, acceptors, a sequencer.</summary>
internal sealed class TestCluster(int number = 1) : IAsyncDisposable
{
    private readonly SeededEntropy _entropy = new(number);
    private readonly List<CorfuClient> _clients = [];
    private readonly List<UnitHandler> _units = [];
    private int _port = 7000;

    /// <summary>Units answer writes with NoSpace.</summary>
    public bool Full
    {
        set => Transport.Answer = value ? static r => r is WriteRequest ? r.Fail(Status.NoSpace, r.Epoch) : null : null;
    }

    public ClusterId Id { get; } = new(new Guid($"{number:D8}-2222-3333-4444-555555555555"));

    public DirectTransport Transport { get; private set; } = null!;

    public List<NodeAddress> Units { get; } = [];

    public List<NodeAddress> Acceptors { get; } = [];

    public Projection First { get; private set; } = null!;

    /// <summary>Short times: what is tested are orders of events, and these only bound how long a failing test
    /// takes.</summary>
    public static CorfuClientOptions Options { get; } = new()
    {
        OperationTimeout = TimeSpan.FromSeconds(10),
        SuccessorTimeout = TimeSpan.FromMilliseconds(50),
        MaxRetryDelay = TimeSpan.FromMilliseconds(5),
        Reconfiguration = new ReconfigurerOptions
        {
            RoundTimeout = TimeSpan.FromMilliseconds(300),
        },
    };

    /// <summary>Chains (0,1), (1,2), (2,0)... as a cluster of that many units and replicas is placed.</summary>
    /// <param name="number">Clusters of one test have different ones, or their nodes and clients would have the same
    /// identities.</param>
    public static async Task<TestCluster> StartAsync(int units, int replicas, int acceptors = 1, int number = 1)
    {
        var cluster = new TestCluster(number);
        cluster.Transport = new DirectTransport(cluster.Id);
        for (var i = 0; i < units; i++) await cluster.AddUnitAsync();
        for (var i = 0; i < acceptors; i++) cluster.Acceptors.Add(cluster.AddAcceptor());

        cluster.First = await cluster.Reconfigurer().CreateAsync(
            cluster.Id, cluster.AddSequencer(), cluster.Chains(units, replicas), [.. cluster.Units],
            [.. cluster.Acceptors]);
        return cluster;
    }

    public ImmutableArray<Chain> Chains(int units, int replicas) =>
        [.. Enumerable.Range(0, units)
            .Select(
                i =>
                    new Chain([.. Enumerable.Range(0, replicas).Select(j => new Replica(Units[(i + j) % units].Id))]))];

    public async Task<NodeAddress> AddUnitAsync()
    {
        var store = new MemoryPageStore();
        var id = new NodeId(_entropy.NewGuid());
        var unit = new UnitHandler(id,
            await UnitCore.OpenAsync(store, new UnitCoreOptions { Id = id, Cluster = Id }), store);
        _units.Add(unit);
        Units.Add(Serve(unit));
        return Units[^1];
    }

    /// <summary>An empty one, not in any projection.</summary>
    public NodeAddress AddAcceptor() => Serve(new MemoryAcceptor(new NodeId(_entropy.NewGuid())));

    /// <summary>A new incarnation, not yet in any projection.</summary>
    public NodeAddress AddSequencer(SequencerOptions? options = null) => Serve(new SequencerHandler(_entropy, options));

    public Reconfigurer Reconfigurer(TimeProvider? time = null, ReconfigurerOptions? options = null) =>
        new(Transport, new LayoutClient(Transport, _entropy, TimeProvider.System), time ?? TimeProvider.System,
            options: options ?? Options.Reconfiguration);

    public CorfuClient Client(CorfuClientOptions? options = null)
    {
        var client = new CorfuClient(First, Transport, TimeProvider.System, _entropy, options ?? Options);
        _clients.Add(client);
        return client;
    }

    /// <summary>The page of a unit at a position, asked under the newest epoch that the unit has.</summary>
    public async Task<PageResult> LookAsync(NodeAddress unit, LogPosition position)
    {
        var info = await Transport.CallAsync(unit, new UnitInfoRequest(Epoch.None), default);
        var read = await Transport.CallAsync(unit, new ReadRequest(info.Installed, [position], ReadDetail.Full),
            default);
        return read.Pages[0];
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var client in _clients) await client.DisposeAsync();
        foreach (var unit in _units) await unit.DisposeAsync();
    }

    private NodeAddress Serve(Transport.IRoleHandler handler)
    {
        var address = new NodeAddress(handler.Id, new NodeEndpoint("test", ++_port));
        Transport.Serve(address.Endpoint, handler);
        return address;
    }
}
