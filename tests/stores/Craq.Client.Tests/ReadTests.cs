namespace Craq.Client.Tests;

/// <summary>Reads go to near replicas, and from one replica to the next.</summary>
public sealed class ReadTests
{
    [Fact]
    public async Task Reads_spread_over_the_replicas_of_the_own_datacenter()
    {
        await using var setup = new Setup(new CraqClientOptions { Datacenter = "east" });
        for (var i = 0; i < 10; i++) Assert.True((await setup.Chain.GetAsync("k")).IsFound);
        Assert.Equal([(FakeNodes.Node(1), 5), (FakeNodes.Node(2), 5)], setup.Nodes.AskedFor<ReadObjectsRequest>()
            .CountBy(node => node).Select(one => (one.Key, one.Value)).Order());
    }

    [Fact]
    public async Task Reads_without_a_datacenter_spread_over_all_replicas()
    {
        await using var setup = new Setup();
        for (var i = 0; i < 9; i++) await setup.Chain.GetAsync("k");
        Assert.All(
            setup.Nodes.AskedFor<ReadObjectsRequest>().CountBy(node => node), one => Assert.Equal(3, one.Value));
    }

    [Fact]
    public async Task Silent_replica_is_passed_over_and_no_read_fails()
    {
        await using var setup = new Setup(new CraqClientOptions { Datacenter = "east" });
        await setup.Chain.GetAsync("k");
        setup.Nodes.On(1, _ => null);
        for (var i = 0; i < 10; i++) Assert.True((await setup.Chain.GetAsync("k")).IsFound);
        Assert.InRange(setup.Nodes.AskedFor<ReadObjectsRequest>().Count(node => node == FakeNodes.Node(1)), 0, 2);
        Assert.DoesNotContain(FakeNodes.Node(3), setup.Nodes.AskedFor<ReadObjectsRequest>());
    }

    [Fact]
    public async Task Datacenter_without_a_replica_that_answers_is_left()
    {
        await using var setup = new Setup(new CraqClientOptions { Datacenter = "west" });
        setup.Nodes.First<ReadObjectsRequest>(
            3, read => new ReadObjectsResponse(CraqStatus.Unconfirmed, read.Epoch));
        Assert.True((await setup.Chain.GetAsync("k")).IsFound);
        var asked = setup.Nodes.AskedFor<ReadObjectsRequest>().ToList();
        Assert.Equal(FakeNodes.Node(3), asked[0]);
        Assert.Equal(2, asked.Count);
    }

    [Fact]
    public async Task Plain_chain_replication_is_read_at_the_tail()
    {
        var view = FakeNodes.View(Setup.Orders, 5, (1, "east"), (2, "east"), (3, "west"));
        var config = view.Config with { Options = new ChainOptions { Protocol = ChainProtocol.Cr } };
        await using var setup = new Setup(
            new CraqClientOptions { Datacenter = "east" }, view with { Config = config });
        await setup.Chain.GetAsync("k");
        await setup.Chain.GetAsync("k", ReadTerms.Eventual);
        await setup.Chain.PutAsync("k", "v"u8.ToArray());
        Assert.All(setup.Nodes.AskedFor<ReadObjectsRequest>(), node => Assert.Equal(FakeNodes.Node(3), node));
    }

    [Fact]
    public async Task Answer_of_a_newer_epoch_makes_the_client_learn_the_config()
    {
        await using var setup = new Setup();
        await setup.Chain.GetAsync("k", ReadTerms.Eventual);
        setup.View = FakeNodes.View(Setup.Orders, 6, (2, "east"), (3, "west"));
        for (var node = 1; node <= 3; node++)
            setup.Nodes.First<ReadObjectsRequest>(
                node, read => Setup.Found(read) with { Epoch = new Epoch(6) });
        while (setup.Chain.Config!.Epoch.Value < 6)
        {
            await setup.Chain.GetAsync("k", ReadTerms.Eventual);
            await Task.Yield();
        }

        Assert.Equal(FakeNodes.Node(2), setup.Chain.Config.Head.Node);
    }

    [Fact]
    public async Task Session_reads_carry_the_greatest_of_marks_and_own_versions()
    {
        await using var setup = new Setup();
        var session = new CraqSession();
        var own = setup.Chain.In(session);
        await own.GetAsync("k");
        await own.PutAsync("k", "v"u8.ToArray());
        await own.GetAsync("k");
        await setup.Chain.GetAsync("k");
        var reads = setup.Nodes.SentOf<ReadObjectsRequest>().ToList();
        Assert.Equal([ObjectVersion.None, Setup.Version(11)],
            reads.Where(read => read.Mode == ObjectReadMode.Session).Select(read => read.Token));
        Assert.Equal(ObjectReadMode.Strong, reads[^1].Mode);
        Assert.Equal(Setup.Version(11), session.MarkOf(Setup.Orders));
        session.Observe(Setup.Orders, Setup.Version(5));
        Assert.Equal(Setup.Version(11), session.MarkOf(Setup.Orders));
    }

    [Fact]
    public async Task Replica_behind_the_session_is_passed_over()
    {
        await using var setup = new Setup();
        for (var node = 1; node <= 2; node++)
            setup.Nodes.First<ReadObjectsRequest>(
                node, read => new ReadObjectsResponse(CraqStatus.Behind, read.Epoch));
        await setup.Chain.In(new CraqSession()).GetAsync("k");
        Assert.Equal(FakeNodes.Node(3), setup.Nodes.AskedFor<ReadObjectsRequest>().Last());
    }

    [Fact]
    public async Task Bounds_are_sent_and_a_bound_that_no_replica_keeps_is_an_error()
    {
        await using var setup = new Setup();
        await setup.Chain.GetAsync("k", ReadTerms.Bounded(3, TimeSpan.FromSeconds(2)));
        var read = setup.Nodes.SentOf<ReadObjectsRequest>().Last();
        Assert.Equal((ObjectReadMode.Bounded, 3, 2000), (read.Mode, read.MaxAhead, read.MaxAge));
        for (var node = 1; node <= 3; node++)
            setup.Nodes.First<ReadObjectsRequest>(
                node, one => new ReadObjectsResponse(CraqStatus.Stale, one.Epoch));
        var error = await Assert.ThrowsAsync<CraqUnavailableException>(
            async () => await setup.Chain.GetAsync("k", ReadTerms.Bounded(3, TimeSpan.FromSeconds(2))));
        Assert.Equal(CraqStatus.Stale, error.Status);
    }

    [Fact]
    public async Task Answer_that_stops_early_is_continued()
    {
        await using var setup = new Setup();
        for (var node = 1; node <= 3; node++)
            setup.Nodes.First<ReadObjectsRequest>(
                node, read => Setup.Found(read with { Keys = [.. read.Keys.Take(100)] }));
        ImmutableArray<ObjectKey> keys = [.. Enumerable.Range(0, 600).Select(i => new ObjectKey($"key{i}"))];
        var found = await setup.Chain.GetManyAsync(keys);
        Assert.Equal(keys.Select(key => key.ToString()),
            found.Select(one => System.Text.Encoding.ASCII.GetString(one.Value.Span)));
        Assert.All(setup.Nodes.SentOf<ReadObjectsRequest>(),
            read => Assert.InRange(read.Keys.Length, 1, ReadObjectsRequest.MaxKeys));
    }

    [Fact]
    public async Task Object_damaged_at_one_replica_is_read_from_another()
    {
        await using var setup = new Setup(new CraqClientOptions { Datacenter = "west" });
        setup.Nodes.First<ReadObjectsRequest>(3, read =>
        {
            var found = Setup.Found(read);
            return found with
            {
                Objects = found.Objects.SetItem(1, new ObjectResult(
                Status.Corrupt, Setup.Version(3), false, 0, 0, 0, default))
            };
        });
        var found = await setup.Chain.GetManyAsync(["a", "b", "c"]);
        Assert.Equal(["a", "b", "c"], found.Select(one => System.Text.Encoding.ASCII.GetString(one.Value.Span)));
        Assert.Equal(2, setup.Nodes.SentOf<ReadObjectsRequest>().Last().Keys.Length);
    }

    [Fact]
    public async Task Absent_object_is_not_found_and_no_error()
    {
        await using var setup = new Setup();
        for (var node = 1; node <= 3; node++)
            setup.Nodes.First<ReadObjectsRequest>(node, read => Setup.Found(read) with
            {
                Objects = [new ObjectResult(CraqStatus.NotFound, default, false, 0, 0, 0, default)],
            });
        Assert.False((await setup.Chain.GetAsync("k")).IsFound);
    }

    [Fact]
    public async Task Chain_unknown_to_nodes_is_an_error_with_the_name()
    {
        await using var setup = new Setup();
        var error = await Assert.ThrowsAsync<ChainNotFoundException>(
            async () => await setup.Client.Chain("nothing").GetAsync("k"));
        Assert.Contains("'nothing'", error.Message);
    }

    [Fact]
    public async Task Silent_nodes_are_an_error_at_the_deadline()
    {
        await using var setup = new Setup();
        for (var node = 1; node <= 3; node++) setup.Nodes.On(node, _ => null);
        var error = await Assert.ThrowsAsync<CraqUnavailableException>(async () => await setup.Chain.GetAsync("k"));
        Assert.Contains("no node answers", error.Message);
    }

    [Fact]
    public async Task Read_after_the_end_of_the_client_is_an_error()
    {
        var setup = new Setup();
        await setup.DisposeAsync();
        await Assert.ThrowsAsync<CraqUnavailableException>(async () => await setup.Chain.GetAsync("k"));
    }

    [Fact]
    public async Task Cancelled_read_ends()
    {
        await using var setup = new Setup();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            async () => await setup.Chain.GetAsync("k", cancellationToken: new CancellationToken(true)));
    }
}
