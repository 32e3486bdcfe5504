using System.Text;
using Corfu.TestKit;
using Craq.Coordination;
using Craq.Storage;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>A chain over nodes 1, 2, ... in this process, in one thread, under a clock that moves when nothing else
/// can. Node 99 is the client.</summary>
internal sealed class TestChain : IAsyncDisposable
{
    public static readonly NodeId Client = Samples.Id(99);

    private readonly Dictionary<NodeId, CraqNode> _nodes = [];
    private readonly Dictionary<NodeId, MemoryStore> _stores = [];
    private readonly Dictionary<NodeId, TestDirectory.Access> _access = [];
    private readonly CraqNodeOptions _options;
    private readonly Guid _writer = new("00000000-0000-0000-0000-0000000000c1");
    private long _sequence;

    private TestChain(VirtualTime time, int nodes, CraqNodeOptions options, string datacenters)
    {
        Time = time;
        _options = options;
        Network = new TestNetwork(time);
        var all = Enumerable.Range(1, nodes).Select(number => Samples.Node(number,
            datacenters.Length < number ? "east" : datacenters[number - 1].ToString()));
        Directory = new TestDirectory(time, Samples.Nodes([.. all]));
    }

    public VirtualTime Time { get; }

    public TestNetwork Network { get; }

    public TestDirectory Directory { get; }

    public ChainId Id => Samples.Known;

    public ChainConfig Config => Directory[Id].Config;

    /// <summary>Runs a test on one thread.</summary>
    public static void Run(Func<TestChain, Task> body, int members = 3, int nodes = 0, Placement? placement = null,
        ChainOptions? options = null, CraqNodeOptions? node = null, int seed = 1, string datacenters = "") =>
        SeededContext.Run(seed, async time =>
        {
            await using var chain = new TestChain(time, Math.Max(nodes, members), node ?? new CraqNodeOptions(),
                datacenters);
            for (var i = 1; i <= Math.Max(nodes, members); i++) await chain.StartAsync(i);
            chain.Directory.Create(Samples.Known, placement ?? Placement.Implicit(1, members),
                options ?? ChainOptions.Default, [.. Enumerable.Range(1, members)]);
            await chain.OpenedAsync();
            await body(chain);
        });

    public CraqHandler Node(int number) => _nodes[Samples.Id(number)].Handler;

    public MemoryStore Store(int number) => _stores[Samples.Id(number)];

    public TestDirectory.Access Access(int number) => _access[Samples.Id(number)];

    public async Task StartAsync(int number)
    {
        var id = Samples.Id(number);
        var store = _stores.TryGetValue(id, out var before) ? before.Crash() : new MemoryStore(Time);
        _stores[id] = store;
        _access[id] = Directory.For();
        _nodes[id] = await CraqNode.OpenAsync(id, store, _access[id], Network.From(id), Time, _options);
        Network.Set(id, _nodes[id].Handler);
    }

    /// <summary>The node's process is killed: what was not durable is gone.</summary>
    public async Task KillAsync(int number)
    {
        var id = Samples.Id(number);
        Network.Set(id, null);
        var store = _stores[id];
        store.IsHeld = true;
        if (_nodes.Remove(id, out var node)) await node.DisposeAsync();
    }

    /// <summary>The node's process is killed, and starts with another log.</summary>
    public async Task RestartAsync(int number, Func<IEnumerable<StoreRecord>, IEnumerable<StoreRecord>> log)
    {
        await KillAsync(number);
        _stores[Samples.Id(number)] = Store(number).With(log(Store(number).Crash().Log));
        await StartAsync(number);
    }

    /// <summary>The record of a chain's state that the cleaner and checkpoints write, as of now.</summary>
    public StoreRecord StateOf(int number)
    {
        ChainSnapshot? snapshot = null;
        Node(number).WithChain(Id, (core, _) => snapshot = core.Snapshot());
        return new StoreRecord(StoreRecordKind.ChainState, Id, snapshot!.Mark, snapshot.State, default);
    }

    /// <summary>Waits until the newest epoch is recorded open.</summary>
    public Task OpenedAsync() => UntilAsync(() => Config.IsRecordedOpen);

    public async Task UntilAsync(Func<bool> holds, int seconds = 20)
    {
        for (var waited = 0; !holds(); waited++)
        {
            Assert.True(waited < seconds * 100, "Nothing changed in time.");
            await DelayAsync(10);
        }
    }

    public Task DelayAsync(int milliseconds) => Task.Delay(TimeSpan.FromMilliseconds(milliseconds), Time);

    public ValueTask<TResponse> CallAsync<TResponse>(int node, Request<TResponse> request)
        where TResponse : Response =>
        Network.From(Client).CallAsync(new NodeAddress(Samples.Id(node), new NodeEndpoint("127.0.0.1", 1)), request,
            CancellationToken.None);

    public WriteId NextId() => new(_writer, ++_sequence);

    public MutateRequest Mutation(params ReadOnlySpan<ObjectOperation> operations) =>
        new(Config.Epoch, Id, NextId(), ObjectVersion.None, false, [], [], [.. operations]);

    public static ObjectOperation Put(string key, string value, long expiry = 0) =>
        new(ObjectOperationKind.Put, key, 0, expiry, Encoding.UTF8.GetBytes(value));

    public static ObjectOperation Add(string key, long delta) =>
        new(ObjectOperationKind.Add, key, 0, ObjectOperation.KeepExpiry, default, delta);

    /// <summary>Writes at the head, and must succeed once the epoch is open.</summary>
    public async Task<ObjectVersion> PutAsync(string key, string value)
    {
        var request = Mutation(Put(key, value));
        var answer = await MutateAsync(request);
        for (var tries = 0; answer.Status == CraqStatus.NotOpen && tries < 100; tries++)
        {
            await DelayAsync(50);
            answer = await MutateAsync(request);
        }

        Assert.Equal(Status.Ok, answer.Status);
        return answer.Version;
    }

    /// <summary>As above, by a client that knows that mark.</summary>
    public async Task<ObjectVersion> PutWithMarkAsync(string key, string value, ObjectVersion mark)
    {
        var answer = await MutateAsync(Mutation(Put(key, value)) with { NotBefore = mark });
        Assert.Equal(Status.Ok, answer.Status);
        return answer.Version;
    }

    /// <summary>A single attempt at the head.</summary>
    public async Task<MutateResponse> MutateAsync(MutateRequest request) =>
        await CallAsync(NumberOf(Config.Head.Node), request);

    public async Task<ReadObjectsResponse> ReadAsync(int node, string key, ObjectReadMode mode = ObjectReadMode.Strong,
        ObjectVersion token = default, int ahead = 0, int age = 0) =>
        await CallAsync(node, new ReadObjectsRequest(Config.Epoch, Id, mode, [key], token, ahead, age));

    /// <summary>The value that a read at that node shows; null: no object.</summary>
    public async Task<string?> GetAsync(int node, string key, ObjectReadMode mode = ObjectReadMode.Strong)
    {
        var answer = await ReadAsync(node, key, mode);
        Assert.Equal(Status.Ok, answer.Status);
        return ValueOf(answer);
    }

    public static string? ValueOf(ReadObjectsResponse answer) =>
        answer.Objects[0].IsFound ? Encoding.UTF8.GetString(answer.Objects[0].Value.Span) : null;

    public ChainConfig Change(ChainChange change) => Directory.Change(Id, change);

    public ObjectVersion MarkOf(int number)
    {
        var mark = ObjectVersion.None;
        Node(number).WithChain(Id, (core, _) => mark = core.Mark);
        return mark;
    }

    public Epoch EpochOf(int number)
    {
        var epoch = Epoch.None;
        Node(number).WithChain(Id, (core, _) => epoch = core.Epoch);
        return epoch;
    }

    public ObjectVersion LastOf(int number)
    {
        var last = ObjectVersion.None;
        Node(number).WithChain(Id, (core, _) => last = core.Last);
        return last;
    }

    public static int NumberOf(NodeId node) => BitConverter.ToInt32(node.Value.ToByteArray());

    public async ValueTask DisposeAsync()
    {
        foreach (var node in _nodes.Values) await node.DisposeAsync();
    }
}
