using Corfu.Conformance;
using Salus.Region.Body;
using Salus.Region.Recovery;
using Salus.Region.Tests.Body;
using Salus.Store;

namespace Salus.Region.Tests.Recovery;

/// <summary>A process with a store on a disk in memory, and its recoveries.</summary>
internal sealed class RecoveryNode : IAsyncDisposable
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

    private readonly RecordingFiles _before;
    private readonly RecordingFiles _disk;

    private RecoveryNode(int number, Signer signer, RecordingFiles disk, RecoveryWorld world)
    {
        (Number, _before, _disk) = (number, disk.Copy(), disk);
        Log = new StoreLog(disk, static (files, space, sizes) => new PlainRecordLog(files, space, sizes),
            ThreadWorkers.Instance, new NodeId(Store.Value), s_store);
        Files = world.FilesOf(number);
        Bodies = new TestBodies();
        RegionBodies = new RegionBodies(
            Files, ThreadWorkers.Instance, static _ => { }, static error => Assert.Fail(error.ToString()));
        Map = world.Map.For(() => IsHeld);
        Recovery = new RegionRecovery(Store, signer, Log, Files, world.HasFiles ? RegionBodies : Bodies, Map,
            new LinkTransport(world, number), new RecoveryTimes(TimeProvider.System, LoopContext.Pool, world.Options));
        var store = new StoreHandler(new NodeId(Store.Value), Log, Files, new Generations(Map));
        Roles = [store, new AdoptRole(new NodeId(signer.Incarnation.Value), Recovery)];
    }

    public int Number { get; }

    public StoreId Store => TestHistory.StoreOf(Number);

    public StoreLog Log { get; }

    public MemoryFiles Files { get; }

    /// <summary>Used unless the world has files.</summary>
    public TestBodies Bodies { get; }

    public RegionBodies RegionBodies { get; }

    public TestMap.Access Map { get; }

    public RegionRecovery Recovery { get; }

    public ImmutableArray<IRoleHandler> Roles { get; }

    public bool IsHeld { get; set; } = true;

    public static async Task<RecoveryNode> StartAsync(
        int number, Signer signer, RecoveryWorld world, RecordingFiles? disk = null)
    {
        var node = new RecoveryNode(number, signer, disk ?? new RecordingFiles(), world);
        await node.Log.RecoverAsync();
        return node;
    }

    /// <summary>The disk behind a power cut: what was not synced is gone.</summary>
    public RecordingFiles CutPower() => _disk.AfterCrash(_before, _disk.EventCount, static _ => []);

    public async Task<ImmutableArray<RegionRecord>> ReadAsync()
    {
        var records = ImmutableArray.CreateBuilder<RegionRecord>();
        foreach (var listed in (await Log.ListAsync(TestHistory.Key, 1, ListLogRequest.MaxRecords)).Records)
        {
            var name = new RecordName(listed.Head.Generation, listed.Head.Index);
            if (await Log.ReadAsync(TestHistory.Key, name) is { } record) records.Add(record);
        }

        return records.ToImmutable();
    }

    public async ValueTask DisposeAsync()
    {
        await RegionBodies.DisposeAsync();
        await Log.DisposeAsync();
    }

    private sealed class Generations(IRegionMap map) : IGenerations
    {
        public bool IsRecorded(RegionKey region, Epoch generation) =>
            map.Find(region.Volume)?.Regions.GetValueOrDefault(region.Region) is { } found
            && generation <= found.Current.Number;
    }

    private sealed class AdoptRole(NodeId id, RegionRecovery recovery) : IRoleHandler
    {
        public NodeRole Role => SalusRoles.RegionServer;

        public NodeId Id => id;

        public void Handle(Request request, ReplyTo reply) => recovery.Adopt((AdoptRequest)request, reply);

        public void BatchEnd()
        {
        }
    }
}

/// <summary>Bodies that remember what was done to them.</summary>
internal sealed class TestBodies : IRegionBodies
{
    /// <summary>The newest.</summary>
    public TestBody? Body { get; private set; }

    public ValueTask<OpenedBody?> OpenAsync(RegionKey region, VolumeGeometry geometry,
        ImmutableArray<CheckpointName> kept, CheckpointName from, CancellationToken cancellationToken)
    {
        Assert.True(Body is null or { IsClosed: true }, "A region has two bodies.");
        Body = new TestBody();
        return ValueTask.FromResult<OpenedBody?>(new OpenedBody(Body, 0, default, default));
    }
}

internal sealed class TestBody : IRegionBody
{
    public List<long> Accepted { get; } = [];

    public List<long> Committed { get; } = [];

    public bool IsClosed { get; private set; }

    public int Blocks => 64;

    public int Pages => 1;

    public Hash128 Root => default;

    public Hash128 CommittedRoot => default;

    public long Unwritten => 0;

    public bool IsCutDue => false;

    public long NewestFile => 0;

    public ImmutableArray<CheckpointName> Written => [];

    public string? FileFault => null;

    public ImmutableArray<long> Missing => [];

    public ValueTask LoadAsync(SubBatch batch, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public bool Accept(SubBatch batch)
    {
        Assert.False(IsClosed);
        Accepted.Add(batch.Header.Number);
        return true;
    }

    public void Undo() => Accepted.RemoveAt(Accepted.Count - 1);

    public void Commit(SubBatch batch)
    {
        Assert.False(IsClosed);
        Assert.Equal(Accepted[Committed.Count], batch.Header.Number);
        Committed.Add(batch.Header.Number);
    }

    public ValueTask<RegionBlocks> ReadAsync(
        int first, int count, long snapshot, CancellationToken cancellationToken) => throw new NotSupportedException();

    public ValueTask<RegionHashes> ReadTreeAsync(
        ImmutableArray<int> pages, long snapshot, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ImmutableArray<long> ProposeInputs() => [];

    public Task<ImmutableArray<long>> ReleaseAsync(ImmutableArray<CheckpointName> kept) =>
        throw new NotSupportedException();

    public Task<CheckpointName> CutAsync(CutRecord cut, long index, Hash128 chain, BatchName batch) =>
        throw new NotSupportedException();

    public Task<CheckpointName> CompactAsync(CompactRecord compact, long index, Hash128 chain, BatchName batch) =>
        throw new NotSupportedException();

    public ValueTask DisposeAsync()
    {
        IsClosed = true;
        return ValueTask.CompletedTask;
    }
}
