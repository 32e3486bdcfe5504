using Tango.Testing;

namespace Tango.ZooKeeper.Tests;

/// <summary>A process with the partitions, and others beside it on the same log.</summary>
internal sealed class PartitionWorld : IAsyncDisposable
{
    public const long FrontEnd = 7;
    public const long Session = 42;

    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(1);
    private static readonly ImmutableArray<AuthId> s_ids = [new AuthId("ip", "10.0.0.1")];
    private readonly TangoRuntime _runtime;
    private Func<Task>? _between;
    private bool _always;
    private int _tries;

    private PartitionWorld(InMemoryCorfuLog? log)
    {
        Log = log ?? new InMemoryCorfuLog(new InMemoryLogOptions { AroundAppend = PassAsync });
        _runtime = new TangoRuntime(Log);
    }

    public InMemoryCorfuLog Log { get; }

    public TangoRuntime Runtime => _runtime;

    public TreePartitions Trees { get; private set; } = null!;

    public PartitionWorld Others { get; private set; } = null!;

    public static async Task<PartitionWorld> StartAsync(params string[] mounts)
    {
        var world = new PartitionWorld(null);
        await world.OpenAsync();
        await world.Trees.Root.UpdateAsync(new BeginRecord(World.Seed, TreeLevel.Newest, new TreeSettings()));
        await world.Trees.Root.UpdateAsync(new FrontEndUpRecord(FrontEnd, TreeLevel.Newest, "here"));
        await world.Trees.Root.UpdateAsync(new CreateSessionRecord(Session, 1, 10_000, FrontEnd));
        foreach (var mount in mounts) await world.Trees.MountAsync(mount, World.Seed);
        await world.HostAllAsync();
        world.Others = new PartitionWorld(world.Log);
        await world.Others.OpenAsync();
        await world.Others.HostAllAsync();
        return world;
    }

    public ZooKeeperTree Tree(string mount) => Trees.Find(mount)!;

    /// <summary>Runs something when the next transaction has its snapshot, and before its record is in the
    /// log.</summary>
    /// <returns>Counts the times.</returns>
    public Func<int> Between(Func<Task> run, bool always = false)
    {
        (_between, _always, _tries) = (run, always, 0);
        return () => _tries;
    }

    public async Task DoAsync(TreeOp op) => Assert.Equal(ZooKeeperError.Ok, await ErrorAsync(op));

    public async Task<ZooKeeperError> ErrorAsync(TreeOp op)
    {
        var root = await Trees.Root.ReadAsync();
        var tree = Tree(Assert.Single(TreePartitions.PartitionsOf(root, op)));
        return (await tree.UpdateAsync(new RequestRecord(Header, op))).Error;
    }

    public Task<CrossResult> MultiAsync(params ImmutableArray<NodeOp> ops) => MultiAsync(s_limit, ops);

    public async Task<CrossResult> MultiAsync(TimeSpan limit, params ImmutableArray<NodeOp> ops) =>
        await Trees.DecideAsync(Header, new MultiOp(ops), limit);

    public Task ExpireAsync() => Trees.AppendAsync(
        new ExpireRecord(FrontEnd, 0, [new ExpiredSession(Session, 1)]), ticket: 1).AsTask();

    /// <summary>Numbers of the nodes' creates; 0: there is no such node.</summary>
    public async Task<long[]> ZxidsAsync(params string[] paths)
    {
        var zxids = new List<long>();
        foreach (var path in paths)
        {
            var root = await Trees.Root.ReadAsync();
            zxids.Add((await Tree(root.PartitionOf(path)).ReadAsync()).Find(path)?.Stat.Czxid ?? 0);
        }

        return [.. zxids];
    }

    public async ValueTask DisposeAsync()
    {
        if (Others is not null) await Others.DisposeAsync();
        await _runtime.DisposeAsync();
    }

    private static RequestHeader Header => new(Session, 1, 1, 5_000, s_ids);

    private async Task OpenAsync() => Trees = TreePartitions.Of(
        _runtime, "main", await _runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create));

    private async Task HostAllAsync()
    {
        var root = await Trees.Root.ReadAsync();
        await Trees.RefreshAsync(root);
        await Trees.HostAsync(root.Mounts.Select(mount => mount.Path));
    }

    private async ValueTask PassAsync(CancellationToken cancellationToken)
    {
        if (_between is not { } run) return;
        _between = null;
        _tries++;
        await run();
        if (_always) _between = run;
    }
}
