using Microsoft.Extensions.Logging.Abstractions;
using Salus.Region.Tests.Support;

namespace Salus.Region.Tests.Mounted;

/// <summary>A case for each claim of the paper (NSDI'13), over the shipped driver, region servers and stores.</summary>
public sealed class PaperTests
{
    private const int BlockSize = 4096;
    private const int RegionBlocks = 16;

    /// <summary>2, 4.1: a client has many requests outstanding; sending a batch waits for no other one.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Batch_is_prepared_before_the_batch_in_front_is_committed()
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        await using var volume = await MountAsync(world);
        world.Network.Drops = static (_, request) => request is DecideRequest;
        // A batch that is full leaves; it has 256 requests at most.
        var writes = Enumerable.Range(0, 1024).Select(i => WriteAsync(volume, i % 3 * RegionBlocks, (byte)i)).ToArray();
        var since = Environment.TickCount64;
        while (world.Network.Sent.Select(static sent => sent.Request).OfType<PreparedRequest>()
            .Select(static prepared => prepared.Batch.Number).Distinct().Count() < 4)
            await world.PauseAsync(since);
        Assert.DoesNotContain(writes, static write => write.IsCompleted);
        world.Network.Drops = null;
        await Task.WhenAll(writes);
        for (var region = 0; region < 3; region++)
            Assert.Equal(new[] { 255, 253, 254 }[region], await ReadAsync(volume, region * RegionBlocks));
    }

    /// <summary>2.2, 4.1: every write is a barrier. A later batch in another region is not acknowledged before all
    /// earlier ones are committed.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Write_of_a_fast_region_waits_for_the_write_before_in_a_slow_one()
    {
        await using var world = await TestWorld.StartAsync(regions: 2);
        await using var volume = await MountAsync(world);
        var slow = world.Key(0);
        world.Network.Drops = (_, request) => request is ForwardRequest forward && forward.Head.Region == slow;
        var first = WriteAsync(volume, 0, 1);
        var second = WriteAsync(volume, RegionBlocks, 2);
        var since = Environment.TickCount64;
        // All members of the fast region have the second batch durable.
        while (world.Network.Sent.Count(sent => sent.Request is PreparedRequest prepared
            && prepared.Region == world.Key(1) && sent.Response is { IsOk: true }) < 2)
            await world.PauseAsync(since);
        Assert.False(first.IsCompleted || second.IsCompleted);
        world.Network.Drops = null;
        await first;
        await second;
        Assert.Equal((1, 2), (await ReadAsync(volume, 0), await ReadAsync(volume, RegionBlocks)));
    }

    /// <summary>2.2: after a crash of the client the volume holds a prefix of the writes in their order, with all that
    /// was acknowledged.</summary>
    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task Volume_holds_a_prefix_when_the_client_dies_with_many_writes_under_way(int seed)
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        var first = await MountAsync(world);
        var random = new Random(seed);
        var (gate, count) = (new Lock(), 0);
        // From some message on, each is lost with a chance of a third.
        var from = random.Next(20, 200);
        world.Network.Drops = (_, request) =>
        {
            lock (gate) return ++count > from && random.Next(3) == 0 && request is not RegionStatusRequest;
        };
        // Each write has a block of its own, in one region after the other.
        var writes = new List<Task>();
        for (var i = 0; i < 15; i++)
        {
            writes.Add(WriteAsync(first, BlockOf(i), (byte)(i + 1)));
            if (i >= 6) await Task.WhenAny(writes[i - 6], Task.Delay(20, TestContext.Current.CancellationToken));
        }

        var since = Environment.TickCount64;
        while (Volatile.Read(ref count) < from + 60 && writes.Any(static write => !write.IsCompleted))
            await world.PauseAsync(since);
        var acknowledged = writes.Count(static write => write.IsCompletedSuccessfully);
        world.Network.Drops = null;
        var mounting = MountAsync(world);
        since = Environment.TickCount64;
        while (!mounting.IsCompleted) await world.PauseAsync(since);
        await using (var second = await mounting)
        {
            var blocks = new List<int>();
            for (var i = 0; i < writes.Count; i++) blocks.Add(await ReadAsync(second, BlockOf(i)));
            var kept = blocks.TakeWhile(static (value, i) => value == i + 1).Count();
            Assert.True(kept >= acknowledged, $"{kept} of {acknowledged} acknowledged writes are there");
            Assert.All(blocks.Skip(kept), static value => Assert.Equal(0, value));
        }

        await first.DisposeAsync();

        static int BlockOf(int write) => (write % 3 * RegionBlocks) + (write / 3);
    }

    /// <summary>4.1: a batch of several regions is there whole or not at all.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Batch_over_two_regions_is_not_committed_without_the_vote_of_either()
    {
        await using var world = await TestWorld.StartAsync(regions: 2);
        var first = await MountAsync(world);
        await WriteAsync(first, RegionBlocks - 1, 1, 1);
        var silent = world.Key(1);
        world.Network.Drops = (_, request) => request is PutBatchRequest put && put.Region == silent;
        var torn = WriteAsync(first, RegionBlocks - 1, 2, 2);
        var since = Environment.TickCount64;
        while (!world.Network.Sent.Any(sent => sent.Request is PreparedRequest { Batch.Number: 2 }))
            await world.PauseAsync(since);
        Assert.False(torn.IsCompleted);
        // Nothing of the dead client comes any more, and the next one finds neither half.
        world.Network.Drops = static (_, request) => request is PutBatchRequest;
        await using (var second = await MountAsync(world))
            Assert.Equal((1, 1), (await ReadAsync(second, RegionBlocks - 1), await ReadAsync(second, RegionBlocks)));
        world.Network.Drops = null;
        await first.DisposeAsync();
        await Assert.ThrowsAsync<VolumeException>(() => torn);
    }

    /// <summary>4.2: unanimous consent. Without one of three nothing is acknowledged.</summary>
    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Write_waits_for_the_consent_of_every_member(int place)
    {
        await using var world = await TestWorld.StartAsync(regions: 1);
        await using var volume = await MountAsync(world);
        await WriteAsync(volume, 0, 1);
        var silent = world.Member(0, place).Server.Id;
        var lost = 0;
        world.Network.Drops = (to, request) =>
            to == silent && (request is PutBatchRequest or ForwardRequest) && Interlocked.Increment(ref lost) > 0;
        var write = WriteAsync(volume, 0, 2);
        var since = Environment.TickCount64;
        while (Volatile.Read(ref lost) < 2) await world.PauseAsync(since);
        Assert.False(write.IsCompleted);
        world.Network.Drops = null;
        await write;
        Assert.Equal(2, await ReadAsync(volume, 0));
    }

    /// <summary>4.3: a client verifies each block itself. Of three members any two may lie, and no lie is
    /// returned.</summary>
    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(1, 2, 0)]
    [InlineData(2, 0, 0)]
    [InlineData(0, 1, 0)]
    [InlineData(0, 0, 0)]
    [InlineData(1, 1, 1)]
    [InlineData(2, 2, 2)]
    public async Task Lie_of_one_or_two_members_is_found_and_the_block_read_elsewhere(int one, int other, int kind)
    {
        await using var world = await TestWorld.StartAsync(regions: 1);
        await using var volume = await MountAsync(world);
        await WriteAsync(volume, 0, 1);
        await WriteAsync(volume, 0, 7);
        NodeId[] liars = [world.Member(0, one).Server.Id, world.Member(0, other).Server.Id];
        var lies = 0;
        world.Network.ChangesAnswer = (to, _, answer) => liars.Contains(to) && answer is GetResponse { IsOk: true } get
            && Interlocked.Increment(ref lies) > 0
                ? get with { Blocks = [.. get.Blocks.Select(block => Lie(block, (Falsehood)kind))] }
                : answer;
        for (var i = 0; i < 30; i++) Assert.Equal(7, await ReadAsync(volume, 0));
        Assert.True(lies > 0);
        Assert.All(world.Map.State.Head.Suspicions.Where(static own => own.Kind == SuspicionKind.WrongAnswer),
            suspicion => Assert.Contains(new NodeId(suspicion.Member.Value), liars));
    }

    /// <summary>4.3: where all three lie, the client gets an error, and never their block.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Lie_of_all_members_is_an_error()
    {
        await using var world = await TestWorld.StartAsync(regions: 1);
        await using var volume = await MountAsync(world,
            SalusClientOptions.Default with { Patience = TimeSpan.FromSeconds(2) });
        await WriteAsync(volume, 0, 7);
        world.Network.ChangesAnswer = static (_, _, answer) => answer is GetResponse { IsOk: true } get
            ? get with { Blocks = [.. get.Blocks.Select(static block => Lie(block, Falsehood.Older))] }
            : answer;
        var error = await Assert.ThrowsAsync<VolumeException>(() => ReadAsync(volume, 0));
        Assert.Equal(VolumeFault.Unverifiable, error.Fault);
        world.Network.ChangesAnswer = null;
        Assert.Equal(7, await ReadAsync(volume, 0));
    }

    /// <summary>4.2.1: active storage. Region servers stand beside their data: a checkpoint sends names and signatures
    /// from member to member, and no block.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Checkpoint_takes_no_block_over_the_network()
    {
        await using var world = await TestWorld.StartAsync(regions: 1, memtables: 0);
        await using var volume = await MountAsync(world);
        for (var block = 0; block < RegionBlocks; block++) await WriteAsync(volume, block, (byte)(block + 1));
        await world.WaitAsync(static state => state.Regions[0].Checkpoints.Length > 0);
        var requests = world.Network.Sent.Select(static sent => sent.Request).ToList();
        Assert.NotEmpty(requests.OfType<CheckpointedRequest>());
        Assert.DoesNotContain(requests, static request => request is ReadFileRequest or ListFilesRequest);
        var cuts = requests.OfType<ForwardRequest>()
            .Where(static forward => forward.Head.Kind != RegionRecordKind.Put).ToList();
        Assert.NotEmpty(cuts);
        Assert.All(cuts, static cut => Assert.True(cut.Content.Length < BlockSize / 4, $"{cut.Content.Length} bytes"));
        // Each block went from the driver to the primary, and from member to member: three times.
        var puts = requests.OfType<PutBatchRequest>().Where(static put => put.Batch.Length > BlockSize)
            .Select(static put => Hash128.Of(put.Batch.Span)).Distinct().Count();
        var forwards = requests.OfType<ForwardRequest>().Where(static forward => forward.Content.Length > BlockSize)
            .Select(static forward => (forward.Head.Index, forward.Signatures.Length)).Distinct().Count();
        Assert.Equal((RegionBlocks, 2 * RegionBlocks), (puts, forwards));
        for (var block = 0; block < RegionBlocks; block++) Assert.Equal(block + 1, await ReadAsync(volume, block));
    }

    private enum Falsehood
    {
        Older = 0,
        Flipped = 1,
        Empty = 2,
    }

    private static ReadOnlyMemory<byte> Lie(ReadOnlyMemory<byte> block, Falsehood kind)
    {
        if (kind == Falsehood.Empty) return default;
        var bytes = block.ToArray();
        if (kind == Falsehood.Older) bytes.AsSpan().Fill(1);
        else bytes[^1] ^= 1;
        return bytes;
    }

    private static async Task<IVolume> MountAsync(TestWorld world, SalusClientOptions? options = null)
    {
        var ports = new VolumePorts(new MapVolumeLog(world.Map), world.Network.Transport, TimeProvider.System,
            SystemEntropy.Instance, LoopContext.Pool, NullLogger.Instance);
        return await VolumeDriver.MountAsync(
            ports, options ?? SalusClientOptions.Default, TestContext.Current.CancellationToken);
    }

    private static async Task WriteAsync(IVolume volume, long block, params byte[] values)
    {
        var data = new byte[values.Length * BlockSize];
        for (var i = 0; i < values.Length; i++) data.AsSpan(i * BlockSize, BlockSize).Fill(values[i]);
        await volume.WriteAsync(block, data, durable: false);
    }

    private static async Task<int> ReadAsync(IVolume volume, long block)
    {
        var data = new byte[BlockSize];
        await volume.ReadAsync(block, data, null, TestContext.Current.CancellationToken);
        Assert.Equal(-1, data.AsSpan().IndexOfAnyExcept(data[0]));
        return data[0];
    }
}
