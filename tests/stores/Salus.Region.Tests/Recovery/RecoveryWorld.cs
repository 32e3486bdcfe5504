using Corfu.Conformance;
using Salus.Coordination.Rules;
using Salus.Region.Recovery;
using Salus.Region.Tests.Body;

namespace Salus.Region.Tests.Recovery;

/// <summary>Stores with the log of one region, and the processes that recover it.</summary>
internal sealed class RecoveryWorld : IAsyncDisposable
{
    private readonly Dictionary<int, RecoveryNode> _nodes = [];
    private readonly TestNetwork _network = new();
    private readonly List<RecoveredRegion> _recovered = [];
    private readonly Dictionary<int, MemoryFiles> _files = [];

    public TestHistory History { get; } = new();

    public TestMap Map { get; } = new();

    public RecoveryOptions Options { get; init; } = new()
    {
        Patience = TimeSpan.FromSeconds(30),
        LongPatience = TimeSpan.FromSeconds(30),
        GonePatience = TimeSpan.FromMilliseconds(50),
        Pause = TimeSpan.FromMilliseconds(5),
    };

    /// <summary>Bodies are over the stores' files.</summary>
    public bool HasFiles { get; init; }

    /// <summary>Calls that fail, by sender and request.</summary>
    public Func<int, StoreId?, Request, bool>? Cuts { get; set; }

    /// <summary>Told of every call before it is made.</summary>
    public Action<Request>? Called { get; set; }

    public RecoveryNode this[int store] => _nodes[store];

    /// <summary>The node of that store, whichever process serves it.</summary>
    public MemoryFiles FilesOf(int store)
    {
        if (!_files.TryGetValue(store, out var files)) _files[store] = files = new MemoryFiles();
        return files;
    }

    public RegionState Region => Map.State.Regions[TestHistory.Key.Region];

    /// <summary>Starts a process for each store, with what the history has put there.</summary>
    /// <param name="but">Records that a store has lost.</param>
    public async Task StartAsync(int[] stores, Func<int, RegionRecord, bool>? but = null, RunDecision? bar = null,
        params CheckpointName[] kept)
    {
        foreach (var store in stores)
        {
            await StartAsync(store);
            foreach (var record in History.Stores.GetValueOrDefault(TestHistory.StoreOf(store)) ?? [])
            {
                if (but?.Invoke(store, record) != true) await CopyAsync(_nodes[store], record);
            }
        }

        var head = VolumeHead.None with
        {
            Id = TestHistory.Key.Volume,
            Geometry = VolumeGeometry.Create(4L * TestHistory.Blocks * 4096, 4096, TestHistory.Blocks),
            Run = 1,
            Phase = RunPhase.Opened,
            Bar = bar,
        };
        Map.Must(_ => new VolumeRuling(new VolumeState(1, head,
            ImmutableSortedDictionary<int, RegionState>.Empty.Add(TestHistory.Key.Region,
                History.Current with { Checkpoints = [.. kept] })), null));
    }

    public async Task StartAsync(int store, RecordingFiles? disk = null)
    {
        var process = History.ProcessOf(store);
        _nodes[store] = await RecoveryNode.StartAsync(store, process, this, disk);
        Map.Book(TestHistory.StoreOf(store), process.Incarnation);
        foreach (var role in _nodes[store].Roles) _network.Set(role.Id, role);
    }

    /// <summary>The process loses its lease, for good; the store is not reached any more.</summary>
    public void Lose(int store)
    {
        foreach (var role in _nodes[store].Roles) _network.Set(role.Id, null);
        Map.Lose(TestHistory.StoreOf(store));
    }

    /// <summary>Power is cut, and another process opens the store.</summary>
    public async Task RestartAsync(int store)
    {
        var before = _nodes[store];
        foreach (var role in before.Roles) _network.Set(role.Id, null);
        var disk = before.CutPower();
        await before.DisposeAsync();
        History.Restart(store);
        await StartAsync(store, disk);
    }

    /// <summary>Begins a generation. Members of the one before close what they have.</summary>
    public async Task ReplaceAsync(params int[] stores)
    {
        foreach (var recovered in _recovered) await recovered.Body.DisposeAsync();
        _recovered.Clear();
        Map.Must(state => RegionRules.Replace(state, TestHistory.Key.Region, Region.Current.Number,
            [.. stores.Select(store => new RegionMember(
                TestHistory.StoreOf(store), History.ProcessOf(store).Incarnation, IsFilled: false))]));
    }

    public void Admit() => Map.Must(state =>
        RegionRules.Admit(state, TestHistory.Key.Region, Region.Current.Number, state.Head.Run));

    /// <summary>The new generation at all its members.</summary>
    public async Task<RecoveredRegion[]> RecoverAsync(CancellationToken cancellationToken = default)
    {
        var generation = Region.Current;
        using var failed = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        return await Task.WhenAll(generation.Members.Select(RecoverAsync)).WaitAsync(TimeSpan.FromSeconds(60));

        async Task<RecoveredRegion> RecoverAsync(RegionMember member)
        {
            try
            {
                var node = _nodes.Values.Single(node => node.Store == member.Store);
                var recovered = await node.Recovery.RecoverAsync(TestHistory.Key, generation, failed.Token);
                lock (_recovered) _recovered.Add(recovered);
                return recovered;
            }
            catch
            {
                // The others wait for it.
                await failed.CancelAsync();
                throw;
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var node in _nodes.Values) await node.DisposeAsync();
    }

    public ITransport Network => _network.Transport;

    private static async Task CopyAsync(RecoveryNode node, RegionRecord record)
    {
        long lsn;
        while (node.Log.TryCopy(record, out lsn) is var status && status != Status.Ok)
        {
            Assert.Equal(Status.Overloaded, status);
            await Task.Delay(1, TestContext.Current.CancellationToken);
        }

        await node.Log.WaitDurableAsync(lsn);
    }
}

/// <summary>The network as one process reaches it.</summary>
internal sealed class LinkTransport(RecoveryWorld world, int from) : ITransport
{
    public ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        cancellationToken.ThrowIfCancellationRequested();
        world.Called?.Invoke(request);
        var store = world.Map.Nodes.Stores.Values
            .Where(node => node.StoreAddress == to || node.RegionAddress == to)
            .Select(static node => (StoreId?)node.Store).FirstOrDefault();
        return world.Cuts?.Invoke(from, store, request) == true
            ? throw new TransportException("No answer.", outcomeUnknown: true)
            : world.Network.CallAsync(to, request, cancellationToken);
    }

    public void Drop(NodeAddress node)
    {
    }

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        throw new NotSupportedException();
}
