using Corfu.Protocol;
using Corfu.Storage;
using Craq;
using Craq.Protocol;
using Craq.Storage;

namespace Corfu.Conformance;

/// <summary>A node's chains over its store, with no other node: a record is clean once it is durable and the test says
/// so.</summary>
internal sealed class TestNode : INodeChains, INodeStoreObserver, IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly SortedDictionary<ChainId, TestChain> _chains = [];
    private readonly long _run;
    private long _counter;

    private TestNode(NodeStore store, long run)
    {
        Store = store;
        _run = run;
    }

    public static NodeId Id { get; } = new(new Guid("cccccccc-0000-0000-0000-000000000001"));

    /// <summary>Small enough that a few hundred records cross log pages, segments and the memory of the index.
    /// </summary>
    public static NodeStoreOptions Small { get; } = new()
    {
        LogPageSize = 16 << 10,
        LogMemory = 8 * (128 << 10),
        SegmentSize = 64 << 10,
        Reserve = 64 << 10,
        HotBytes = 32 << 10,
        IndexSize = 4096,
        IndexMemory = 1 << 20,
        CheckpointRecords = 300,
        SpareSegments = 2,
    };

    public NodeStore Store { get; }

    public Exception? Failure { get; private set; }

    public IReadOnlyCollection<ChainId> Held => _chains.Keys;

    public static ChainId Chain(int number) => ChainId.FromName($"chain {number}");

    /// <param name="before">The node in the run before, whose chains are to be found again.</param>
    public static async Task<TestNode> OpenAsync(NodeStore store, TestNode? before = null)
    {
        var node = new TestNode(store, (before?._run ?? 0) + 1);
        await store.RecoverAsync(record =>
        {
            if (record.Kind == StoreRecordKind.Forget)
            {
                node._chains.Remove(record.Chain);
                store.Forget(record.Chain);
            }
            else node.Of(record.Chain).Replay(record);
        });
        store.Observer = node;
        if (before is not null)
        {
            foreach (var chain in before._chains.Values) node.Of(chain.Id).TakeHistory(chain);
        }

        await store.AttachAsync(node);
        return node;
    }

    public async ValueTask<ObjectVersion> WriteAsync(ChainId chain, params ObjectWrite[] writes)
    {
        var kind = writes.Length == 0 ? ChainRecordKind.Clear : ChainRecordKind.Write;
        var use = writes.All(w => w.IsDelete) ? StoreUse.Deletes : StoreUse.Writes;
        while (true)
        {
            lock (_gate)
            {
                var size = RecordCodec.Encode(new ChainRecord(chain, kind, default, default, [], [.. writes])).Length;
                var status = Store.Admit(size, use);
                if (status is not (Status.Ok or Status.Overloaded)) throw new CorfuException($"{status}");
                if (status == Status.Ok)
                {
                    return Of(chain).Append(
                        new ObjectVersion(ObjectVersion.First(new Epoch(_run)).Value + ++_counter), kind, writes);
                }
            }

            await Store.WaitDurableAsync();
            // Another worker allocates the log's space.
            await Task.Yield();
        }
    }

    public static ObjectWrite Put(ObjectKey key, int size, uint flags = 0)
    {
        var value = new byte[size];
        new Random((int)flags + size).NextBytes(value);
        return new ObjectWrite(key, flags, flags * 10L, value);
    }

    public static ObjectWrite Delete(ObjectKey key) => new(key, 0, 0, null);

    /// <summary>All that was appended becomes durable, and then clean.</summary>
    public async Task CleanUpAsync()
    {
        var last = Locked(() => _chains.Values.ToDictionary(c => c, c => c.Last));
        await Store.WaitDurableAsync();
        Locked(() =>
        {
            foreach (var (chain, version) in last) chain.Advance(version);
            return true;
        });
    }

    /// <summary>The newest durable record of each chain.</summary>
    public Dictionary<ChainId, ObjectVersion> DurableVersions() => _chains.Values.ToDictionary(c => c.Id, c =>
        c.DurableVersions(Store.DurableUntil) is { Count: > 0 } versions ? versions[^1] : c.Mark);

    public TestChain Of(ChainId chain)
    {
        if (!_chains.TryGetValue(chain, out var found)) _chains[chain] = found = new TestChain(chain, Store);
        return found;
    }

    public void Forget(ChainId chain)
    {
        lock (_gate)
        {
            Store.Append(StoreRecordKind.Forget, chain, default, default);
            Store.Forget(chain);
            _chains.Remove(chain);
        }
    }

    public async Task CheckAsync()
    {
        foreach (var chain in _chains.Values) await chain.CheckAsync(this);
    }

    public T Locked<T>(Func<T> step)
    {
        lock (_gate) return step();
    }

    public bool Needs(ChainId chain, ObjectVersion version) =>
        _chains.TryGetValue(chain, out var held) && held.Needs(version);

    public void Moved(ChainId chain, ObjectVersion version, StorePlace place) => Of(chain).Moved(version, place);

    public bool TryLogMark(ChainId chain) => !_chains.TryGetValue(chain, out var held) || held.TryLogMark();

    public ChainSnapshot? Snapshot(ChainId chain) => _chains.TryGetValue(chain, out var held) ? held.Snapshot() : null;

    public void OnDurable(long lsn)
    {
    }

    public void OnFailed(Exception error) => Failure = error;

    public ValueTask DisposeAsync() => Store.DisposeAsync();
}
