using Salus.Coordination.Rules;
using Salus.Region.Tests.Support;
using RecordingFiles = Corfu.Conformance.RecordingFiles;

namespace Salus.Region.Tests;

/// <summary>Writers that take over, and generations that follow each other.</summary>
public sealed class RunTests
{
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Writer_that_takes_over_goes_on_with_all_that_was_committed()
    {
        await using var world = await TestWorld.StartAsync();
        var first = world.Driver();
        await first.MountAsync();
        await first.CommitAsync((0, 3, 7), (1, 5, 8));
        await first.CommitAsync((1, 5, 9));
        var second = world.Driver();
        await second.MountAsync();
        Assert.Equal(2, second.Number);
        await second.CommitAsync((0, 3, 1), (1, 1, 2));
        await second.CheckAsync();
        await Assert.ThrowsAsync<RefusedException>(() => first.CommitAsync((0, 1, 1)));
        await second.CheckAsync();
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Batch_that_a_participant_lacks_is_void_after_a_takeover()
    {
        await using var world = await TestWorld.StartAsync();
        var first = world.Driver();
        await first.MountAsync();
        await first.CommitAsync((0, 3, 7), (1, 5, 8));
        var (lost, late) = (first.Make((0, 3, 1), (1, 5, 2)), first.Make((0, 4, 3)));
        // Region 0 prepares both; region 1 never hears of the first.
        Assert.Equal(Status.Ok, (await first.TrySendAsync(lost.Parts[0]))!.Status);
        Assert.Equal(SalusStatus.Pending, (await first.TrySendAsync(late.Parts[0]))!.Status);
        var second = world.Driver();
        await second.MountAsync();
        Assert.Equal(1, second.Number);
        await second.CommitAsync((0, 3, 5), (1, 5, 6));
        await second.CheckAsync();
        Assert.Equal(SalusStatus.RunOver, (await first.TrySendAsync(lost.Parts[1]))!.Status);
        await second.CheckAsync();
    }

    /// <summary>S12: a primary that has forgotten its report sends on a batch of the old writer.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Member_that_has_signed_a_report_takes_no_batch_of_a_lower_run()
    {
        await using var world = await TestWorld.StartAsync();
        var first = world.Driver();
        await first.MountAsync();
        await first.CommitAsync((0, 3, 7));
        // Region 1 never reports: the run is not decided, and region 0 does not open it.
        world.Network.Drops = (_, request) => request is FenceRequest fence && fence.Region == world.Key(1);
        world.Map.Must(static state => VolumeRules.BeginRun(
            state, state.Head.Token + 1, new Incarnation(Guid.NewGuid())));
        await world.WaitAsync(static state => state.Regions[0].Report is not null);
        var content = first.Make((0, 4, 1)).Parts[0].Encode();
        var (log, generation) = (world.Primary(0).Log.Find(world.Key(0))!, world.Map.State.Regions[0].Current.Number);
        var head = new RecordHead(RegionRecordKind.Put, world.Key(0), generation, log.Last.Index + 1, log.Chain,
            RegionRecord.DigestOf(RegionRecordKind.Put, content, out _));
        var answer = await world.Network.Transport.CallAsync(
            new NodeAddress(world.Member(0, 1).Server.Id, new NodeEndpoint("node", 1)),
            new ForwardRequest(generation, head, [world.Primary(0).Signer.Sign(head.Logged)], content, null),
            TestContext.Current.CancellationToken);
        Assert.Equal(SalusStatus.RunOver, answer.Status);
    }

    /// <summary>Roots batch by batch, of all that is not void, to the record that a member has last (S21).</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Members_tell_a_region_by_the_roots_of_batches()
    {
        await using var world = await TestWorld.StartAsync();
        var first = world.Driver();
        await first.MountAsync();
        TestBatch[] batches = [first.Make((0, 3, 7), (1, 5, 8)), first.Make((1, 5, 9)), first.Make((0, 1, 1))];
        foreach (var batch in batches) await first.CommitAsync(batch);
        // Region 0 prepares a batch that region 1 never hears of: it is void in the next run.
        var lost = first.Make((0, 4, 2), (1, 4, 2));
        Assert.Equal(SalusStatus.Pending, (await first.TrySendAsync(lost.Parts[0]))?.Status ?? SalusStatus.Pending);
        var second = world.Driver();
        await second.MountAsync();
        for (var member = 0; member < 3; member++)
        {
            var history = await HistoryAsync(world, world.Member(0, member), second.Run);
            Assert.Equal((default, default), (history.Base, history.BaseRoot));
            Assert.Equal(new[] { batches[0], batches[2] }.Select(static batch => new RegionBatch(batch.Header.Name,
                batch.Header.Find(0)!.Value.Root, batch.Header.VolumeRoot)), history.Batches);
        }

        Assert.Equal(SalusStatus.RunOver, (await HistoryAsync(world, world.Primary(0), first.Run)).Status);
    }

    private static async Task<RegionHistoryResponse> HistoryAsync(TestWorld world, TestNode node, long run)
    {
        var since = Environment.TickCount64;
        while (true)
        {
            var answer = await world.Network.Transport.CallAsync(
                new NodeAddress(node.Server.Id, new NodeEndpoint("node", 1)),
                new RegionHistoryRequest(world.Map.State.Regions[0].Current.Number, world.Key(0), run),
                TestContext.Current.CancellationToken);
            if (answer.Status != SalusStatus.Pending) return answer;
            await world.PauseAsync(since);
        }
    }

    /// <summary>A report has what no decision has settled, however many runs have ended without a proof.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Region_reports_behind_runs_without_a_proof()
    {
        await using var world = await TestWorld.StartAsync();
        world.Network.Drops = static (_, request) => request is DecideRequest;
        for (var run = 0; run < 4; run++)
        {
            var driver = world.Driver();
            await driver.MountAsync();
            Assert.Equal(32 * run, driver.Number);
            var window = Enumerable.Range(0, 32).Select(i => driver.Make((0, i % 16, (byte)(i + 1)))).ToArray();
            while (world.Primary(0).Log.Find(world.Key(0))!.Last.Index < 33 * (run + 1))
                await Task.WhenAll(window.Select(batch => driver.TrySendAsync(batch.Parts[0])));
        }

        world.Network.Drops = null;
        var last = world.Driver();
        await last.MountAsync();
        Assert.Equal(128, last.Number);
        await last.CommitAsync((0, 1, 1), (1, 1, 2));
        await last.CheckAsync();
    }

    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Content_behind_every_takeover_is_a_prefix_with_all_that_was_acknowledged(int seed)
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        var random = new Random(seed);
        var acknowledged = 0L;
        for (var round = 0; round < 6; round++)
        {
            var driver = world.Driver();
            await driver.MountAsync();
            Assert.InRange(driver.Number, acknowledged, world.History.Count);
            await driver.CheckAsync();
            world.Network.Drops = (_, request) => request is not (GetRequest or ReadTreeRequest) && IsLost(20);
            world.Network.DropsAnswer = (_, _) => IsLost(20);
            using var dies = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
            var sending = new List<Task>();
            for (var i = 0; i < 12; i++)
            {
                var batch = driver.Make([
                    .. Enumerable.Range(0, random.Next(1, 4)).Select(_ => (random.Next(3), random.Next(16))).Distinct()
                        .Select(place => (place.Item1, place.Item2, (byte)random.Next(256))),
                ]);
                sending.AddRange(batch.Parts.Values.Where(_ => !IsLost(15))
                    .Select(part => driver.SendAsync(part, batch.Header, dies.Token)));
            }

            await Task.Delay(random.Next(60), TestContext.Current.CancellationToken);
            await dies.CancelAsync();
            foreach (var task in sending) await task.ContinueWith(static _ => { }, TaskScheduler.Default);
            acknowledged = driver.Commit?.Batch.Number ?? acknowledged;
            world.Network.Drops = world.Network.DropsAnswer = null;
        }

        bool IsLost(int oneIn)
        {
            lock (random) return random.Next(oneIn) == 0;
        }
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Prepared_batches_of_a_dead_writer_are_committed_by_the_next_one()
    {
        await using var world = await TestWorld.StartAsync();
        var first = world.Driver();
        await first.MountAsync();
        // No decision: the leader's votes are lost.
        world.Network.Drops = static (_, request) => request is VoteRequest or DecideRequest;
        var batch = first.Make((0, 3, 7), (1, 5, 8));
        Assert.Equal(Status.Ok, (await first.TrySendAsync(batch.Parts[0]))!.Status);
        Assert.Equal(SalusStatus.Pending, (await first.TrySendAsync(batch.Parts[1]))!.Status);
        var second = world.Driver();
        await second.MountAsync();
        Assert.Equal(1, second.Number);
        await second.CheckAsync();
        world.Network.Drops = null;
        await second.CommitAsync((0, 3, 1));
        await second.CheckAsync();
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Members_without_room_refuse_and_the_next_run_goes_on()
    {
        await using var world = await TestWorld.StartAsync(nodes: 4);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 1, 1), (1, 1, 1));
        var full = world.Primary(0);
        (full.Files.Free, full.Files.Total) = (0, 1 << 30);
        var (refused, other) = (driver.Make((0, 2, 2)), driver.Make((1, 2, 2)));
        await Assert.ThrowsAsync<RefusedException>(() => driver.CommitAsync(refused));
        Assert.Equal(SalusStatus.Pending, (await driver.TrySendAsync(other.Parts[1]))!.Status);
        (full.Files.Free, full.Files.Total) = (long.MaxValue, long.MaxValue);
        var again = world.Driver();
        await again.MountAsync();
        Assert.Equal(1, again.Number);
        await again.CommitAsync((0, 2, 3), (1, 2, 4));
        await again.CheckAsync();
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task New_generation_decides_batches_left_undecided_before()
    {
        await using var world = await TestWorld.StartAsync(nodes: 4);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 1, 1), (1, 1, 1));
        world.Network.Drops = static (_, request) => request is DecideRequest;
        var batch = driver.Make((0, 2, 2), (1, 2, 2));
        Assert.Equal(Status.Ok, (await driver.TrySendAsync(batch.Parts[0]))!.Status);
        Assert.Equal(SalusStatus.Pending, (await driver.TrySendAsync(batch.Parts[1]))!.Status);
        world.Network.Drops = null;
        var dead = world.Primary(1);
        TestNode[] left = [.. world.Nodes.Where(node => node != dead)];
        await world.CrashAsync(dead);
        await world.ReplaceAsync(0, left);
        await world.ReplaceAsync(1, [.. left.Reverse()]);
        world.Map.Must(state => RegionRules.Admit(state, 0, new Epoch(2), driver.Run));
        world.Map.Must(state => RegionRules.Admit(state, 1, new Epoch(2), driver.Run));
        await driver.CommitAsync(batch);
        await driver.CommitAsync((0, 3, 3), (1, 3, 3));
        await driver.CheckAsync();
    }

    /// <summary>Seed 194 of the simulator: the generation that had proven the batch before was forgotten, and no leader
    /// decided again.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Batch_is_decided_behind_a_note_whose_proof_is_forgotten()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        var before = driver.Make((0, 1, 1));
        await driver.CommitAsync(before);
        var proof = driver.Commit!;
        await world.ReplaceAsync(0, [.. world.Nodes]);
        world.Map.Must(state => RegionRules.Admit(state, 0, new Epoch(2), driver.Run));
        world.Map.Must(state => VolumeRules.Note(state, driver.Run, proof, before.Header.VolumeRoot, stable: 1));
        Assert.False(world.Map.State.Proves(proof));
        await driver.CommitAsync((1, 2, 2));
        await driver.CommitAsync((0, 3, 3), (1, 3, 3));
        await driver.CheckAsync();
    }

    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Batches_in_flight_outlive_the_loss_of_any_member(int seed)
    {
        await using var world = await TestWorld.StartAsync(nodes: 5);
        var driver = world.Driver();
        await driver.MountAsync();
        var random = new Random(seed);
        for (var round = 0; round < 2; round++)
        {
            var window = Enumerable.Range(0, 8).Select(i => driver.Make(
                (i % 2, random.Next(15), (byte)(i + 1)), ((i + (i % 3)) % 2, 15, (byte)random.Next(256)))).ToArray();
            var sending = Task.WhenAll(window.Select(driver.CommitAsync));
            await Task.Delay(random.Next(20), TestContext.Current.CancellationToken);
            var dead = world.Member(random.Next(2), random.Next(3));
            await world.CrashAsync(dead);
            for (var region = 0; region < 2; region++)
            {
                var current = world.Map.State.Regions[region].Current;
                if (current.Find(dead.Signer.Incarnation) is null) continue;
                // Members that are left, and a node that has nothing of the region.
                var left = world.Nodes.ToLookup(node => current.Find(node.Signer.Incarnation) is not null);
                await world.ReplaceAsync(
                    region, [.. left[true].OrderBy(_ => random.Next()), left[false].First()]);
                var number = region;
                world.Map.Must(state => RegionRules.Admit(state, number, current.Number.Next, driver.Run));
            }

            await sending;
            await driver.CheckAsync();
        }
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Generation_takes_no_batch_and_votes_for_none_before_admission()
    {
        await using var world = await TestWorld.StartAsync(nodes: 4);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 1, 1), (1, 1, 1));
        var dead = world.Primary(0);
        TestNode[] left = [.. world.Nodes.Where(node => node != dead)];
        await world.CrashAsync(dead);
        await world.ReplaceAsync(0, left);
        await world.ReplaceAsync(1, left);
        world.Map.Must(state => RegionRules.Admit(state, 1, new Epoch(2), driver.Run));
        var batch = driver.Make((0, 2, 2));
        Assert.Equal(SalusStatus.Pending, (await driver.TrySendAsync(batch.Parts[0]))!.Status);
        Assert.Equal(3, left[0].Log.Find(world.Key(0))!.Last.Index);
        world.Map.Must(state => RegionRules.Admit(state, 0, new Epoch(2), driver.Run));
        await driver.CommitAsync(batch);
        await driver.CheckAsync();
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Recovering_member_tells_of_a_full_disk()
    {
        await using var world = await TestWorld.StartAsync(regions: 1);
        var full = await TestNode.StartAsync(3, world, new RecordingFiles { Capacity = 300 << 10 });
        var other = await TestNode.StartAsync(4, world);
        world.Nodes.AddRange([full, other]);
        world.Map.Must(state => RegionRules.Replace(
            state, 0, Epoch.First, [world.Nodes[0].Member, full.Member, other.Member]));
        Assert.Equal(Status.NoSpace, await StatusAsync(full));
        Assert.Equal(SalusStatus.Pending, await StatusAsync(other));

        async Task<Status> StatusAsync(TestNode node) => (await world.Network.Transport.CallAsync(
            new NodeAddress(node.Server.Id, new NodeEndpoint("node", 1)),
            new RegionStatusRequest(new Epoch(2), world.Key(0), 0, 0), TestContext.Current.CancellationToken)).Status;
    }

    /// <summary>A discard was refused like a write, so that a full disk could not be emptied.</summary>
    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Discard_is_taken_where_a_write_finds_a_full_disk()
    {
        await using var world = await TestWorld.StartAsync(regions: 1);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 1, 1));
        var files = world.Member(0, 1).Files;
        (files.Total, files.Free) = (1 << 30, 1 << 20);
        await driver.CommitAsync((0, 1, 0));
        var answer = await driver.TrySendAsync(driver.Make((0, 2, 2)).Parts[0]);
        Assert.Equal(Status.NoSpace, answer!.Status);
        // The next file does without the block, and its space goes.
        await world.WaitAsync(static state => state.Regions[0].Newest.Number > 0);
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Member_without_a_lease_signs_and_answers_no_request()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 1, 1), (1, 1, 1));
        var member = world.Member(0, 2);
        member.IsHeld = false;
        Assert.Equal(SalusStatus.Behind, (await driver.GetAsync(member, 0, 1, 1))!.Status);
        var batch = driver.Make((0, 2, 2));
        Assert.Equal(SalusStatus.Pending, (await driver.TrySendAsync(batch.Parts[0]))!.Status);
        Assert.Equal(2, member.Log.Find(world.Key(0))!.Last.Index);
        member.IsHeld = true;
        await driver.CommitAsync(batch);
        await driver.CheckAsync();
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Read_waits_for_the_last_batch_that_the_driver_knows_committed()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        // No member but the primary hears of commits on its own.
        world.Network.Drops = static (_, request) => request is CommitRequest;
        await driver.CommitAsync((0, 1, 1), (1, 1, 1));
        await driver.CommitAsync((0, 1, 2), (1, 1, 2));
        await driver.CheckAsync();
    }
}
