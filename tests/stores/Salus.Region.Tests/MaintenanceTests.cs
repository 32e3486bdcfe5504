using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Salus.Coordination.Rules;
using Salus.Region.Tests.Support;
using Salus.Store;
using Salus.Store.Files;

namespace Salus.Region.Tests;

/// <summary>Cuts, their certificates, and what goes.</summary>
public sealed class MaintenanceTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task Cut_makes_equal_files_and_is_published(int copies)
    {
        await using var world = await StartAsync(copies);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 3, 7), (0, 4, 8));
        await PublishedAsync(world, 0, 1);
        await driver.CommitAsync((0, 3, 9), (1, 1, 1));
        await PublishedAsync(world, 0, 2);
        await PublishedAsync(world, 1, 1);
        await driver.CheckAsync();
        foreach (var (region, known) in world.Map.State.Regions)
        {
            foreach (var checkpoint in known.Checkpoints)
            {
                var name = new RegionFile(world.Key(region), checkpoint.Number);
                byte[][] files =
                [
                    .. Enumerable.Range(0, copies)
                        .Select(member => world.Member(region, member).RegionFiles.Find(name)),
                ];
                Assert.All(files, file => Assert.True(file.AsSpan().SequenceEqual(files[0])));
            }
        }
    }

    /// <summary>S19: what the stable point has not reached stays; what it has goes at all members.</summary>
    [Fact]
    public async Task Files_and_records_go_below_the_stable_point_and_no_sooner()
    {
        await using var world = await StartAsync(3, regions: 1);
        var driver = world.Driver();
        await driver.MountAsync();
        for (var file = 1; file <= 3; file++)
        {
            await driver.CommitAsync((0, 3, (byte)file));
            await PublishedAsync(world, 0, file);
        }

        var kept = world.Map.State.Regions[0].Checkpoints;
        Assert.Equal([1L, 2L, 3L], kept.Select(checkpoint => checkpoint.Number));
        Assert.All(world.Nodes, node => Assert.Equal(0, node.Log.Find(world.Key(0))!.Floor));
        var commit = driver.Commit!;
        world.Map.Must(state => VolumeRules.Note(
            state, driver.Run, commit, world.Map.State.Regions[0].Newest.Root, kept[1].Batch));
        Assert.Equal([2L, 3L], world.Map.State.Regions[0].Checkpoints.Select(checkpoint => checkpoint.Number));
        await UntilAsync(() => world.Nodes.All(node => node.Log.Find(world.Key(0))!.Floor == kept[1].Index
            && !node.RegionFiles.Files.ContainsKey(new(world.Key(0), 1))));
        Assert.All(world.Nodes, node => Assert.Equal([2L, 3L],
            node.RegionFiles.List().Select(file => file.Number).Order()));
        await driver.CommitAsync((0, 5, 1));
        await driver.CheckAsync();
    }

    [Fact]
    public async Task Release_that_the_log_does_not_confirm_is_not_obeyed()
    {
        await using var world = await StartAsync(3, regions: 1);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 3, 1));
        await PublishedAsync(world, 0, 1);
        var (key, newest) = (world.Key(0), world.Map.State.Regions[0].Newest);
        var statement = Statement.Release(key, Epoch.First, newest.Number, newest.Index);
        var request = new ReleaseRequest(Epoch.First, key, newest.Number, newest.Index,
            [world.Primary(0).Signer.Sign(statement)]);
        var answer = await world.Network.Transport.CallAsync(
            new NodeAddress(world.Member(0, 1).Server.Id, new NodeEndpoint("node", 1)), request,
            TestContext.Current.CancellationToken);
        Assert.Equal(SalusStatus.Pending, answer.Status);
        Assert.All(world.Nodes, node => Assert.Equal(0, node.Log.Find(key)!.Floor));
    }

    /// <summary>S22: each region cuts where the marker stands in its log, whatever comes behind.</summary>
    [Fact]
    public async Task Marker_among_other_batches_makes_a_snapshot_of_all_before_alone()
    {
        await using var world = await StartAsync(3);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 1, 1), (1, 1, 1));
        TestBatch[] batches =
        [
            driver.Make((0, 2, 2)), driver.Make((1, 2, 2)), driver.MakeMarker(), driver.Make((0, 1, 3)),
            driver.Make((0, 2, 0), (1, 2, 3)),
        ];
        await Task.WhenAll(batches.Select(driver.CommitAsync));
        var marker = batches[2].Header;
        await world.WaitAsync(state => state.Regions.Values.All(region => region.Checkpoints.Any(checkpoint =>
            checkpoint.Batch == marker.Number)));
        world.Map.Must(state => SnapshotRules.Record(
            state, driver.Run, "s", marker.Name, marker.VolumeRoot, driver.Commit!));
        Assert.Equal(SnapshotState.Complete, world.Map.State.Head.Snapshots.Single().State);
        await driver.CheckAsync();
        for (var region = 0; region < 2; region++)
        {
            var checkpoint = world.Map.State.Regions[region].Checkpoints.Single(c => c.Batch == marker.Number);
            for (var member = 0; member < 3; member++)
            {
                var read = await driver.GetAsync(world.Member(region, member), region, 1, 2, checkpoint.Number);
                Assert.Equal(Status.Ok, read!.Status);
                Assert.Equal([1, 2], read.Blocks.Select(block => block.Span[0]));
            }
        }
    }

    /// <summary>A member mends a damaged file from a peer, and answers right again.</summary>
    [Fact]
    public async Task Damaged_file_comes_from_a_peer_once_a_reader_or_the_scrub_has_found_the_damage()
    {
        await using var world = await StartAsync(3, regions: 1);
        var driver = await WriteFileAsync(world);
        var (file, member) = (new RegionFile(world.Key(0), 1), world.Member(0, 2));
        var whole = member.RegionFiles.Find(file);
        foreach (var isRead in new[] { true, false })
        {
            member.RegionFiles.Flip(file, 4096 + 5);
            if (isRead) Assert.Equal(Status.Corrupt, (await driver.GetAsync(member, 0, 3, 1))!.Status);
            if (isRead) member.Scrub.Start();
            await UntilAsync(() => whole.AsSpan().SequenceEqual(member.RegionFiles.Find(file)));
            await driver.CheckAsync();
        }

        member.RegionFiles.Delete(file);
        member.Scrub.Report(file);
        await UntilAsync(() => member.RegionFiles.Files.ContainsKey(file));
        Assert.Equal(whole, member.RegionFiles.Find(file));
        Assert.Equal(3, member.Scrub.Found);
        member.RegionFiles.Delete(file);
        member.Scrub.Want(file);
        await UntilAsync(() => member.RegionFiles.Files.ContainsKey(file));
        Assert.Equal(whole, member.RegionFiles.Find(file));
        Assert.Equal(3, member.Scrub.Found);
    }

    /// <summary>Salus.md 7: stores read their log, too, and take damaged records from peers.</summary>
    [Fact]
    public async Task Damaged_record_of_the_log_comes_from_a_peer_as_soon_as_one_is_there()
    {
        await using var world = await StartAsync(3, regions: 1);
        var driver = await WriteFileAsync(world);
        await driver.CommitAsync((0, 5, 77));
        var (key, member) = (world.Key(0), world.Member(0, 2));
        var (listed, _) = await member.Log.ListAsync(key, 1, ListLogRequest.MaxRecords);
        var head = listed.Last(record => record.Head.Kind == RegionRecordKind.Put).Head;
        var name = new RecordName(head.Generation, head.Index);
        var whole = await member.Log.ReadAsync(key, name);
        Damage(member, whole!.Content.Span[^100..]);
        var peers = world.Nodes.Where(node => node != member).ToList();
        foreach (var peer in peers) world.Network.Set(new NodeId(peer.Store.Value), null);
        var (broken, mended) = (new ConcurrentQueue<DamagedRecord>(), new ConcurrentQueue<DamagedRecord>());
        member.LogScrub.Broken += broken.Enqueue;
        member.LogScrub.Mended += mended.Enqueue;
        member.LogScrub.Start();
        await UntilAsync(() => member.LogScrub.CountOf(key) == new ScrubCount(1, 0));
        Assert.Equal(head.Chain, Assert.Single(member.LogScrub.Damaged).Chain);
        foreach (var peer in peers) SetStore(world, peer);
        await UntilAsync(() => member.LogScrub.CountOf(key) == new ScrubCount(0, 1));
        Assert.Equal(Assert.Single(broken), Assert.Single(mended));
        Assert.Empty(member.Log.Damaged);
        Assert.Equal(whole.Encode(), (await member.Log.ReadAsync(key, name))!.Encode());
        await driver.CheckAsync();
    }

    /// <summary>The file was tried again for ever, and a snapshot that waited for it never came.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task Member_with_damaged_memory_asks_to_be_replaced(int number)
    {
        // The table is not cut before the damage.
        await using var world = await TestWorld.StartAsync(regions: 1, copies: 3);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 3, 1));
        var member = world.Member(0, number);
        ReadOnlyMemory<byte> held = default;
        await UntilAsync(async () =>
        {
            held = (await member.Recovery.Opened!.ReadAsync(3, 1, 0, TestContext.Current.CancellationToken)).Blocks[0];
            return !held.IsEmpty;
        });
        Assert.True(MemoryMarshal.TryGetArray(held, out var bytes));
        bytes.AsSpan()[5] ^= 1;
        await driver.CommitAsync(driver.MakeMarker());
        await UntilAsync(() => !world.Map.State.Head.Suspicions.IsEmpty);
        var suspicion = Assert.Single(world.Map.State.Head.Suspicions);
        Assert.Equal((member.Signer.Incarnation, SuspicionKind.WrongAnswer), (suspicion.Member, suspicion.Kind));
        Assert.Contains("Block 3", Assert.Single(world.Broken).Message, StringComparison.Ordinal);
        world.Broken.Clear();
    }

    /// <summary>The search ended for good with the first listing that failed.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Scrub_goes_on_when_the_folder_of_the_files_can_be_listed_again(bool isDenied)
    {
        await using var world = await StartAsync(3, regions: 1);
        await WriteFileAsync(world);
        var (file, member) = (new RegionFile(world.Key(0), 1), world.Member(0, 2));
        var whole = member.RegionFiles.Find(file);
        member.RegionFiles.ListError = isDenied ? new UnauthorizedAccessException("No.") : new IOException("No.");
        member.RegionFiles.Flip(file, 4096 + 5);
        member.Scrub.Start();
        await UntilAsync(() => member.Scrub.ListFault == "No.");
        member.RegionFiles.ListError = null;
        await UntilAsync(() => whole.AsSpan().SequenceEqual(member.RegionFiles.Find(file)));
        Assert.Null(member.Scrub.ListFault);
    }

    // A volume of a region whose three stores answer for one checkpoint file.
    private static async Task<TestDriver> WriteFileAsync(TestWorld world)
    {
        foreach (var node in world.Nodes) SetStore(world, node);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 3, 1));
        await PublishedAsync(world, 0, 1);
        return driver;
    }

    private static void SetStore(TestWorld world, TestNode node)
    {
        var id = new NodeId(node.Store.Value);
        world.Network.Set(id, new StoreHandler(id, node.Log, node.RegionFiles, new AnyGeneration()));
    }

    private static void Damage(TestNode node, ReadOnlySpan<byte> pattern)
    {
        var found = 0;
        foreach (var segment in node.Files.List())
        {
            var bytes = new byte[node.Files.Length(segment)];
            node.Files.Read(segment, 0, bytes);
            if (bytes.AsSpan().IndexOf(pattern) is not (>= 0 and var at)) continue;
            node.Files.Damage(segment, at + 3, static b => (byte)(b ^ 0x10));
            found++;
        }

        Assert.Equal(1, found);
    }

    private static Task<TestWorld> StartAsync(int copies, int regions = 2) =>
        TestWorld.StartAsync(regions, copies, memtables: 0);

    private static Task PublishedAsync(TestWorld world, int region, long file) =>
        world.WaitAsync(state => state.Regions[region].Newest.Number >= file);

    private static Task UntilAsync(Func<bool> condition) => UntilAsync(() => Task.FromResult(condition()));

    private static async Task UntilAsync(Func<Task<bool>> condition)
    {
        while (!await condition()) await Task.Delay(5, TestContext.Current.CancellationToken);
    }

    private sealed class AnyGeneration : IGenerations
    {
        public bool IsRecorded(RegionKey region, Epoch generation) => true;
    }
}
