using Craq.Coordination;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>A case for each claim of the paper about one chain.</summary>
public sealed class PaperTests
{
    /// <summary>2.1: a read always sees the latest written value.</summary>
    [Fact]
    public void Strong_read_at_every_node_shows_the_latest_write() => TestChain.Run(async chain =>
    {
        for (var i = 0; i < 5; i++)
        {
            await chain.PutAsync("x", $"v{i}");
            for (var node = 1; node <= 3; node++) Assert.Equal($"v{i}", await chain.GetAsync(node, "x"));
        }
    });

    /// <summary>2.2: the head handles writes and passes them down; once the write reaches the tail it is committed.
    /// </summary>
    [Fact]
    public void Write_is_answered_behind_the_tail() => TestChain.Run(async chain =>
    {
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v")));
        await chain.DelayAsync(500);
        Assert.False(write.IsCompleted);
        Assert.True(chain.LastOf(2) == chain.LastOf(1));
        chain.Store(3).GoOn();
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal((await write).Version, chain.MarkOf(3));
    });

    /// <summary>2.2: multiple writes are pipelined down the chain.</summary>
    [Fact]
    public void Writes_do_not_wait_for_each_other() => TestChain.Run(async chain =>
    {
        chain.Store(3).IsHeld = true;
        var writes = Enumerable.Range(0, 50)
            .Select(i => chain.MutateAsync(chain.Mutation(TestChain.Put($"k{i}", "v")))).ToArray();
        await chain.UntilAsync(() => chain.LastOf(3).Counter == 51);
        Assert.DoesNotContain(writes, write => write.IsCompleted);
        chain.Store(3).GoOn();
        Assert.All(await Task.WhenAll(writes), answer => Assert.Equal(Status.Ok, answer.Status));
    });

    /// <summary>2.2: the tail handles all reads of plain chain replication.</summary>
    [Fact]
    public void Read_of_a_chain_in_CR_mode_is_answered_by_the_tail_alone() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        Assert.Equal(CraqStatus.WrongRole, (await chain.ReadAsync(1, "x")).Status);
        Assert.Equal(CraqStatus.WrongRole, (await chain.ReadAsync(2, "x", ObjectReadMode.Eventual)).Status);
        Assert.Equal("v", await chain.GetAsync(3, "x"));
    }, options: new ChainOptions { Protocol = ChainProtocol.Cr });

    /// <summary>2.3: a dirty node asks the tail for its version and returns the committed value.</summary>
    [Fact]
    public void Read_of_a_dirty_object_shows_the_version_committed_at_the_tail() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(3).Counter == 3);
        for (var node = 1; node <= 3; node++) Assert.Equal("old", await chain.GetAsync(node, "x"));
        chain.Store(3).GoOn();
        await write;
        for (var node = 1; node <= 3; node++) Assert.Equal("new", await chain.GetAsync(node, "x"));
    });

    /// <summary>2.3: the acknowledgement marks the version as clean at every node that it passes.</summary>
    [Fact]
    public void Acknowledgement_cleans_the_versions_of_all_nodes() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        for (var node = 1; node <= 3; node++)
        {
            Assert.Equal(version, chain.MarkOf(node));
            Assert.False((await chain.ReadAsync(node, "x", ObjectReadMode.Eventual)).Objects[0].IsDirty);
        }
    });

    /// <summary>2.3: one version query serves the reads that wait; the tail answers no values for them.</summary>
    [Fact]
    public void Version_queries_of_waiting_reads_are_shared() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var before = chain.Network.Count<ConfirmRequest>(Samples.Id(3));
        var reads = Enumerable.Range(0, 100).Select(_ => chain.GetAsync(2, "x")).ToArray();
        Assert.All(await Task.WhenAll(reads), value => Assert.Equal("v", value));
        Assert.InRange(chain.Network.Count<ConfirmRequest>(Samples.Id(3)) - before, 1, 4);
    });

    /// <summary>2.4: eventual reads return the newest object version known to the node.</summary>
    [Fact]
    public void Eventual_read_shows_the_newest_version_of_the_node() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(3).Counter == 3);
        Assert.Equal("new", await chain.GetAsync(1, "x", ObjectReadMode.Eventual));
        Assert.True((await chain.ReadAsync(1, "x", ObjectReadMode.Eventual)).Objects[0].IsDirty);
        Assert.Equal("old", await chain.GetAsync(3, "x", ObjectReadMode.Eventual));
        chain.Store(3).GoOn();
        await write;
    });

    /// <summary>2.4: the maximum-bounded mode limits by versions.</summary>
    [Fact]
    public void Bounded_read_is_at_most_so_many_versions_ahead() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v0");
        chain.Store(3).IsHeld = true;
        var writes = Enumerable.Range(1, 3)
            .Select(i => chain.MutateAsync(chain.Mutation(TestChain.Put("x", $"v{i}")))).ToArray();
        await chain.UntilAsync(() => chain.LastOf(3).Counter == 5);
        var first = TestChain.ValueOf(await chain.ReadAsync(1, "x", ObjectReadMode.Bounded, ahead: 1));
        Assert.NotEqual("v0", first);
        var newest = TestChain.ValueOf(await chain.ReadAsync(1, "x", ObjectReadMode.Eventual));
        Assert.Equal(newest, TestChain.ValueOf(await chain.ReadAsync(1, "x", ObjectReadMode.Bounded, ahead: 3)));
        Assert.NotEqual(first, newest);
        Assert.Equal("v0", TestChain.ValueOf(await chain.ReadAsync(1, "x", ObjectReadMode.Bounded)));
        chain.Store(3).GoOn();
        await Task.WhenAll(writes);
    });

    /// <summary>2.4: the maximum-bounded mode limits by time; a partitioned node does not keep it.</summary>
    [Fact]
    public void Bounded_read_of_a_node_cut_off_ends_behind_the_age() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        Assert.Equal(Status.Ok, (await chain.ReadAsync(2, "x", ObjectReadMode.Bounded, age: 500)).Status);
        chain.Network.Cut(Samples.Id(2), Samples.Id(1));
        chain.Network.Cut(Samples.Id(2), Samples.Id(3));
        chain.Access(2).IsCut = true;
        Assert.Equal(Status.Ok, (await chain.ReadAsync(2, "x", ObjectReadMode.Bounded, age: 500)).Status);
        await chain.DelayAsync(600);
        Assert.Equal(CraqStatus.Stale, (await chain.ReadAsync(2, "x", ObjectReadMode.Bounded, age: 500)).Status);
        Assert.Equal("v", await chain.GetAsync(2, "x", ObjectReadMode.Eventual));
        Assert.Equal(CraqStatus.Unconfirmed, (await chain.ReadAsync(2, "x")).Status);
    });

    /// <summary>2.5: when a head fails, its immediate successor takes over; the tail's predecessor when the tail fails.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Chain_goes_on_without_a_failed_member(int failed) => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "before");
        await chain.KillAsync(failed);
        chain.Change(Samples.Remove(failed));
        await chain.OpenedAsync();
        await chain.PutAsync("y", "after");
        foreach (var node in new[] { 1, 2, 3 }.Where(node => node != failed))
        {
            Assert.Equal("before", await chain.GetAsync(node, "x"));
            Assert.Equal("after", await chain.GetAsync(node, "y"));
        }
    });

    /// <summary>5.3: N has to propagate its objects, as the failed successor could have failed before it propagated
    /// outstanding writes.</summary>
    [Fact]
    public void Writes_held_by_a_failed_middle_reach_the_tail() => TestChain.Run(async chain =>
    {
        chain.Network.Cut(Samples.Id(2), Samples.Id(3));
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v")));
        await chain.UntilAsync(() => chain.LastOf(2) == chain.LastOf(1) && chain.LastOf(1).Counter == 2);
        await chain.KillAsync(2);
        chain.Change(Samples.Remove(2));
        await chain.OpenedAsync();
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal("v", await chain.GetAsync(3, "x"));
    });

    /// <summary>5.3, back-propagation: a head that lacks what its successors have takes it from them.</summary>
    [Fact]
    public void Head_collects_the_records_of_the_successors() => TestChain.Run(async chain =>
    {
        // The chain becomes 3, 1, 2 while 1 and 2 have a record that 3 has not.
        chain.Network.Cut(Samples.Id(2), Samples.Id(3));
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v")));
        await chain.UntilAsync(() => chain.LastOf(2) == chain.LastOf(1) && chain.LastOf(1).Counter == 2);
        Assert.True(chain.LastOf(3) < chain.LastOf(1));
        chain.Change(new ChainChange.Reorder(Samples.Ids(3, 1, 2)));
        chain.Network.Heal();
        await chain.OpenedAsync();
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal("v", await chain.GetAsync(3, "x"));
    });

    /// <summary>4.1.1: append, prepend and increment are applied to the latest version at the head, also while the
    /// object is dirty.</summary>
    [Fact]
    public void Increments_are_pipelined_on_a_dirty_object() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("n", "0");
        var adds = await Task.WhenAll(Enumerable.Range(0, 40)
            .Select(_ => chain.MutateAsync(chain.Mutation(TestChain.Add("n", 1)))));
        Assert.Equal(Enumerable.Range(1, 40).Select(n => (ulong)n), adds.Select(a => a.Result.Sums[0]).Order());
        Assert.Equal("40", await chain.GetAsync(2, "n"));
    });

    /// <summary>4.1.1: test-and-set by version number; of several at once one wins.</summary>
    [Fact]
    public void Test_and_set_is_won_once() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        var outcomes = await Task.WhenAll(Enumerable.Range(0, 10).Select(i => chain.MutateAsync(
            chain.Mutation(TestChain.Put("x", $"w{i}")) with
            {
                Compares = [new ObjectCompare("x", ObjectCompareKind.Version, version, default)],
            })));
        var winner = Assert.Single(outcomes, outcome => outcome.IsOk);
        Assert.All(outcomes.Where(outcome => !outcome.IsOk), outcome =>
        {
            Assert.Equal(CraqStatus.Mismatch, outcome.Status);
            Assert.Equal(winner.Version, outcome.Version);
        });
    });

    /// <summary>4.1.2: a mini-transaction on one chain compares, reads and writes several keys in one step at the head.
    /// </summary>
    [Fact]
    public void Transaction_on_a_single_chain_is_a_single_record() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("a", "1");
        await chain.PutAsync("b", "2");
        var done = await chain.MutateAsync(
            chain.Mutation(TestChain.Put("a", "3"), TestChain.Put("b", "4")) with
            {
                Compares = [new ObjectCompare("a", ObjectCompareKind.Value, default, "1"u8.ToArray())],
                Reads = ["a", "b"],
            });
        Assert.Equal(Status.Ok, done.Status);
        Assert.Equal(["1", "2"],
            done.Result.Reads.Select(read => System.Text.Encoding.UTF8.GetString(read.Value.Span)));
        var read = await chain.CallAsync(3,
            new ReadObjectsRequest(chain.Config.Epoch, chain.Id, ObjectReadMode.Strong, ["a", "b"]));
        Assert.All(read.Objects, found => Assert.Equal(done.Version, found.Version));
    });

    /// <summary>5.2: here every write is on the disks of all members before its answer: the chain returns with it after
    /// all nodes were killed.</summary>
    [Fact]
    public void Chain_returns_after_all_nodes_were_killed() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        for (var node = 1; node <= 3; node++) await chain.KillAsync(node);
        for (var node = 1; node <= 3; node++) await chain.StartAsync(node);
        await chain.PutAsync("y", "w");
        for (var node = 1; node <= 3; node++)
        {
            Assert.Equal("v", await chain.GetAsync(node, "x"));
            Assert.Equal("w", await chain.GetAsync(node, "y"));
        }
    });

    /// <summary>6: a write may return as soon as the head has it.</summary>
    [Fact]
    public void Write_waiting_for_the_head_alone_returns_before_the_tail() => TestChain.Run(async chain =>
    {
        chain.Store(3).IsHeld = true;
        var answer = await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v")) with { AtHead = true });
        Assert.Equal(Status.Ok, answer.Status);
        Assert.True(answer.Version > answer.Mark);
        chain.Store(3).GoOn();
    });
}
