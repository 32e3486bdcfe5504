using System.Collections.Concurrent;
using Salus.Coordination.Rules;

namespace Salus.Region.Tests.Support;

/// <summary>Nodes with one volume of some regions of 16 blocks, over a network and disks in memory.</summary>
internal sealed class TestWorld : IAsyncDisposable
{
    /// <summary>Milliseconds, for a test that hangs: far more than any takes.</summary>
    public const int Timeout = 60_000;

    public static readonly VolumeId Volume = new(new Guid(77, 0, 0, new byte[8]));

    private readonly ConcurrentDictionary<(RegionKey, Epoch), TaskCompletionSource> _ready = new();

    private TestWorld(int regions, int copies, TimeSpan? patience)
    {
        Geometry = VolumeGeometry.Create(regions * 16L * 4096, 4096, 16, copies);
        Options = new RegionServerOptions
        {
            Patience = patience ?? TimeSpan.FromMilliseconds(200),
            Tick = TimeSpan.FromMilliseconds(10),
        };
    }

    public VolumeGeometry Geometry { get; }

    public RegionServerOptions Options { get; set; }

    /// <summary>Bytes of committed blocks in memory from which on regions are cut.</summary>
    public long Memtables { get; private init; }

    public TestMap Map { get; } = new();

    public TestNetwork Network { get; } = new();

    public StoppableTime Time { get; } = new();

    public List<TestNode> Nodes { get; } = [];

    /// <summary>The changes of all batches that may count, by number from 1 on.</summary>
    public List<(int Region, int Block, byte Value)[]> History { get; } = [];

    /// <summary>Failures of regions, which no test expects.</summary>
    public ConcurrentQueue<Exception> Broken { get; } = [];

    /// <param name="nodes">Region r has the nodes r, r + 1... as members, the primary first.</param>
    public static async Task<TestWorld> StartAsync(int regions = 2, int copies = 3, int nodes = 3,
        TimeSpan? patience = null, Func<RegionServerOptions, RegionServerOptions>? options = null,
        long memtables = long.MaxValue)
    {
        var world = new TestWorld(regions, copies, patience) { Memtables = memtables };
        if (options is not null) world.Options = options(world.Options);
        world.Map.Must(state => RegionRules.Create(state, Volume, world.Geometry));
        for (var i = 0; i < nodes; i++) world.Nodes.Add(await TestNode.StartAsync(i, world));
        world.Map.Must(state => RegionRules.Place(state, 0,
        [
            .. Enumerable.Range(0, regions).Select(region => Enumerable.Range(region, copies)
                .Select(i => world.Nodes[i % nodes].Member).ToImmutableArray()),
        ]));
        return world;
    }

    public TestDriver Driver() => new(this);

    public RegionKey Key(int region) => new(Volume, region);

    public TestNode Primary(int region) => Member(region, 0);

    public TestNode Member(int region, int place)
    {
        var member = Map.State.Regions[region].Current.Members[place];
        return Nodes.Single(node => node.Signer.Incarnation == member.Incarnation);
    }

    /// <summary>The process ends, and what it had not written is gone.</summary>
    public async Task CrashAsync(TestNode node)
    {
        Network.Set(node.Server.Id, null);
        Nodes.Remove(node);
        await node.DisposeAsync();
    }

    public async Task<TestNode> RestartAsync(TestNode node)
    {
        await CrashAsync(node);
        var again = await TestNode.StartAsync(node.Number, this, node.Files);
        Nodes.Add(again);
        return again;
    }

    public Task IsReadyAsync(RegionKey region, Epoch generation) => Ready(region, generation).Task;

    /// <summary>Begins a new generation, and recovers it from the logs of all nodes.</summary>
    public async Task ReplaceAsync(int region, params TestNode[] members)
    {
        var key = Key(region);
        var before = Map.State.Regions[region].Current.Number;
        Map.Must(state => RegionRules.Replace(state, region, before, [.. members.Select(node => node.Member)]));
        var generation = before.Next;
        // Records that the members of the generation before have signed are in their logs now.
        var since = Environment.TickCount64;
        while (Nodes.Any(node => node.Server.Cores.Any(core => core.Key == key && core.Generation < generation)))
            await PauseAsync(since);
        var records = await LongestAsync(key);
        var (index, chain) = records.Count == 0
            ? (0, default(Hash128))
            : (records[^1].Head.Index, records[^1].Head.Chain);
        var (run, last) = EndOf(records);
        var opening = new Opening(run, last);
        var head = new RecordHead(RegionRecordKind.Open, key, generation, index + 1, chain,
            RegionRecord.DigestOf(RegionRecordKind.Open, opening.Encode(), out _));
        records.Add(new RegionRecord(head, Sign(head.Logged), opening.Encode()));
        foreach (var node in members) await CopyAsync(node, records);
        foreach (var node in members)
        {
            Assert.Equal(Status.Ok, node.Log.TrySeal(key, generation, out var lsn));
            await node.Log.WaitDurableAsync(lsn);
        }

        var statement = Statement.Opening(key, generation, head.Index, head.Chain, last);
        Map.Must(state => RegionRules.Recovered(state, region, generation,
            new RegionOpening(head.Index, head.Chain, run, last, members.Length), Sign(statement)));
        Ready(key, generation).SetResult();

        Certificate Sign(Statement statement) =>
            new(generation, [.. members.Select(node => node.Signer.Sign(statement))]);
    }

    /// <summary>A step of a wait for something that comes soon.</summary>
    /// <param name="since">The wait's beginning, in ticks of the environment.</param>
    public async Task PauseAsync(long since)
    {
        if (Broken.TryPeek(out var error)) throw new InvalidOperationException("A region is broken.", error);
        if (Environment.TickCount64 - since > Timeout / 3)
        {
            throw new TimeoutException($"{Map.State.Head}\n"
                + string.Join('\n', Nodes.SelectMany(static node => node.Server.Cores)));
        }

        await Task.Delay(2, TestContext.Current.CancellationToken);
    }

    public async Task<VolumeState> WaitAsync(Func<VolumeState, bool> condition)
    {
        var since = Environment.TickCount64;
        while (!condition(Map.State)) await PauseAsync(since);
        return Map.State;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var node in Nodes) await node.DisposeAsync();
        Assert.Empty(Broken);
    }

    private TaskCompletionSource Ready(RegionKey region, Epoch generation) => _ready.GetOrAdd((region, generation),
        static _ => new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));

    private async Task<List<RegionRecord>> LongestAsync(RegionKey key)
    {
        List<RegionRecord> longest = [];
        foreach (var node in Nodes)
        {
            List<RegionRecord> found = [];
            foreach (var listed in (await node.Log.ListAsync(key, 1, ListLogRequest.MaxRecords)).Records)
            {
                if (listed.Head.Previous != (found.Count == 0 ? default : found[^1].Head.Chain)) continue;
                var record = await node.Log.ReadAsync(
                    key, new RecordName(listed.Head.Generation, listed.Head.Index));
                if (record is not null) found.Add(record);
            }

            if (found.Count > longest.Count) longest = found;
        }

        return longest;
    }

    private static (long Run, BatchName Last) EndOf(List<RegionRecord> records)
    {
        var (run, last) = (0L, default(BatchName));
        foreach (var record in records)
        {
            if (record.Head.Kind == RegionRecordKind.Put)
            {
                last = SubBatch.Decode(record.Content, out _).Header.Name;
                continue;
            }

            var opening = Opening.Decode(record.Content);
            (run, last) = (opening.Run, opening.Last);
        }

        return (run, last);
    }

    private static async Task CopyAsync(TestNode node, List<RegionRecord> records)
    {
        foreach (var record in records)
        {
            Status status;
            long lsn;
            while ((status = node.Log.TryAppend(record, out lsn)) == Status.Overloaded) await Task.Delay(1);
            Assert.Equal(Status.Ok, status);
            await node.Log.WaitDurableAsync(lsn);
        }
    }
}
