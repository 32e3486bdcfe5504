using Corfu.Conformance;
using Salus.Region.Body;
using Salus.Region.Scrub;
using Salus.Region.Tests.Body;

namespace Salus.Region.Tests.Support;

/// <summary>A process: a store on a disk in memory, and its region servers.</summary>
internal sealed class TestNode : IAsyncDisposable
{
    private static readonly StoreOptions s_store = new()
    {
        LogPageSize = 32 << 10,
        LogMemory = 1 << 20,
        SegmentSize = 256 << 10,
        Reserve = 128 << 10,
        Headroom = 0,
        HotBytes = 32 << 10,
        LogLimit = 64 << 20,
    };

    private static readonly ScrubOptions s_scrub = new() { Pause = TimeSpan.FromMilliseconds(20) };

    private TestNode(int number, Guid incarnation, RecordingFiles files, TestWorld world)
    {
        Number = number;
        Store = StoreOf(number);
        Signer = new Signer(new Incarnation(incarnation));
        Files = files;
        Log = new StoreLog(files, static (files, space, sizes) => new PlainRecordLog(files, space, sizes),
            ThreadWorkers.Instance, new NodeId(Store.Value), s_store);
        Map = world.Map.For(() => IsHeld);
        Bodies = new RegionBodies(RegionFiles, ThreadWorkers.Instance, file => Scrub!.Report(file),
            static error => throw new InvalidOperationException("The work at files has ended.", error),
            memtables: world.Memtables, missing: file => Scrub!.Want(file));
        Scrub = new FileScrub(Store, RegionFiles, Bodies, () => Map.View, world.Network.Transport,
            TimeProvider.System, LoopContext.Pool, s_scrub);
        LogScrub = new LogScrub(Store, Log, () => Map.View, world.Network.Transport, TimeProvider.System,
            LoopContext.Pool, s_scrub);
        Recovery = new TestRecovery(Log, Bodies, world.Geometry, world.IsReadyAsync);
        Server = new RegionServer(new ServerIdentity(Store, Signer), Log, Map, Recovery, world.Network.Transport,
            world.Time, LoopContext.Pool, world.Options);
    }

    public int Number { get; }

    public StoreId Store { get; }

    public Signer Signer { get; }

    public RegionMember Member => new(Store, Signer.Incarnation, false);

    public RecordingFiles Files { get; }

    public StoreLog Log { get; }

    public TestMap.Access Map { get; }

    public TestRecovery Recovery { get; }

    public RegionBodies Bodies { get; }

    public MemoryFiles RegionFiles { get; } = new();

    public FileScrub Scrub { get; }

    public LogScrub LogScrub { get; }

    public RegionServer Server { get; }

    public bool IsHeld { get; set; } = true;

    public static StoreId StoreOf(int number) => new(new Guid(number + 1, 1, 0, new byte[8]));

    public static async Task<TestNode> StartAsync(int number, TestWorld world, RecordingFiles? files = null)
    {
        var node = new TestNode(number, Guid.NewGuid(), files ?? new RecordingFiles(), world);
        await node.Log.RecoverAsync();
        world.Map.Book(node.Store, node.Signer.Incarnation);
        world.Network.Set(node.Server.Id, node.Server);
        node.Server.Broken += (_, error) => world.Broken.Enqueue(error);
        node.Server.Start();
        return node;
    }

    public async ValueTask DisposeAsync()
    {
        IsHeld = false;
        await Scrub.DisposeAsync();
        await LogScrub.DisposeAsync();
        await Server.DisposeAsync();
        await Bodies.DisposeAsync();
        await Log.DisposeAsync();
    }
}
