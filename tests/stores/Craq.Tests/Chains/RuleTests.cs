using Craq.Coordination;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>A case for each rule of a chain that one can show with a few nodes.</summary>
public sealed class RuleTests
{
    /// <summary>C1.</summary>
    [Fact]
    public void Other_bytes_under_a_held_version_stop_the_chain_at_the_node() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        var forged = RecordCodec.Encode(new ChainRecord(chain.Id, ChainRecordKind.Write, version,
            ObjectVersion.First(chain.Config.Epoch), [], [new ObjectWrite("y", 0, 0, "w"u8.ToArray())]));
        var answer = await chain.CallAsync(2, new ReplicateRequest(chain.Config.Epoch, chain.Id,
            ObjectVersion.First(chain.Config.Epoch), ObjectVersion.None, [forged]));
        Assert.Equal(Status.Failed, answer.Status);
        Assert.Equal(Status.Failed, (await chain.ReadAsync(2, "x", ObjectReadMode.Eventual)).Status);
    });

    /// <summary>C2.</summary>
    [Fact]
    public void Record_is_taken_behind_the_predecessor_only() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        var ahead = version.Next();
        var record = RecordCodec.Encode(new ChainRecord(chain.Id, ChainRecordKind.Write, ahead.Next(), ahead, [], []));
        var answer = await chain.CallAsync(2,
            new ReplicateRequest(chain.Config.Epoch, chain.Id, ahead, ObjectVersion.None, [record]));
        Assert.Equal(CraqStatus.Gap, answer.Status);
        Assert.Equal(version, answer.Last);
    });

    /// <summary>C2.</summary>
    [Fact]
    public void Record_is_passed_on_and_shown_only_when_durable() => TestChain.Run(async chain =>
    {
        chain.Store(1).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v")));
        await chain.DelayAsync(300);
        Assert.True(chain.LastOf(1) > chain.LastOf(2));
        Assert.Null(await chain.GetAsync(1, "x", ObjectReadMode.Eventual));
        chain.Store(1).GoOn();
        Assert.Equal(Status.Ok, (await write).Status);
    });

    /// <summary>C3.</summary>
    [Fact]
    public void Refusal_by_a_dirty_version_waits_for_the_commit() => TestChain.Run(async chain =>
    {
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v")));
        await chain.UntilAsync(() => chain.LastOf(1).Counter == 2);
        var refused = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")) with
        {
            Compares = [new ObjectCompare("x", ObjectCompareKind.Absent, default, default)],
        });
        await chain.DelayAsync(400);
        Assert.False(refused.IsCompleted);
        chain.Store(3).GoOn();
        Assert.Equal(CraqStatus.Mismatch, (await refused).Status);
        Assert.Equal((await write).Version, (await refused).Version);
    });

    /// <summary>C5.</summary>
    [Fact]
    public void Epoch_is_not_open_before_all_members_have_installed_the_config() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Network.Cut(Samples.Id(3), Samples.Id(1));
        chain.Network.Cut(Samples.Id(3), Samples.Id(2));
        chain.Access(3).IsCut = true;
        chain.Change(new ChainChange.Renew());
        await chain.DelayAsync(1000);
        Assert.Equal(CraqStatus.NotOpen, (await chain.ReadAsync(1, "x")).Status);
        Assert.Equal(CraqStatus.NotOpen, (await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")))).Status);
        Assert.Equal("v", await chain.GetAsync(1, "x", ObjectReadMode.Session));
        chain.Network.Heal();
        await chain.OpenedAsync();
        Assert.Equal("v", await chain.GetAsync(3, "x"));
    });

    /// <summary>C6: the removed tail lives, and a member that has not heard asks it.</summary>
    [Theory]
    [InlineData(3)]
    [InlineData(1)]
    public void Strong_read_of_a_node_left_behind_by_a_newer_epoch_has_no_answer(int reader) =>
        TestChain.Run(async chain =>
        {
            await chain.PutAsync("x", "old");
            var old = chain.Config.Epoch;
            // Nodes 2, 4 and 5 go on; the reader and the old tail see each other alone.
            foreach (var left in new[] { 1, 3 })
            {
                chain.Access(left).IsCut = true;
                foreach (var right in new[] { 2, 4, 5 }) chain.Network.Cut(Samples.Id(left), Samples.Id(right));
            }

            chain.Change(new ChainChange.Remove(Samples.Ids(1, 3)));
            await chain.OpenedAsync();
            await chain.PutAsync("x", "new");
            var read = await chain.CallAsync(reader,
                new ReadObjectsRequest(old, chain.Id, ObjectReadMode.Strong, ["x"]));
            Assert.Equal(CraqStatus.Unconfirmed, read.Status);
            Assert.Equal("old", await chain.GetAsync(reader, "x", ObjectReadMode.Eventual));
        }, members: 5);

    /// <summary>C6.</summary>
    [Fact]
    public void Read_joins_the_next_starting_round() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var gate = new TaskCompletionSource();
        chain.Network.Holds = (_, _, request) => request is ConfirmRequest ? gate.Task : Task.CompletedTask;
        var first = chain.GetAsync(2, "x");
        await chain.DelayAsync(2);
        var asked = chain.Network.Sent.Count(sent => sent.Request is ConfirmRequest);
        chain.Network.Holds = null;
        var second = chain.GetAsync(2, "x");
        Assert.Equal("v", await second);
        Assert.Equal(2 * asked, chain.Network.Sent.Count(sent => sent.Request is ConfirmRequest));
        gate.SetResult();
        Assert.Equal("v", await first);
    }, node: new CraqNodeOptions { RoundSpacing = TimeSpan.Zero });

    /// <summary>C6, logged.</summary>
    [Fact]
    public void Strong_read_of_a_clean_object_goes_on_by_the_logs_word() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await chain.KillAsync(1);
        await chain.KillAsync(3);
        Assert.Equal("v", await chain.GetAsync(2, "x"));
        chain.Access(2).IsCut = true;
        Assert.Equal(CraqStatus.Unconfirmed, (await chain.ReadAsync(2, "x")).Status);
    });

    /// <summary>C6: a refusal is a read.</summary>
    [Fact]
    public void Refusal_of_a_head_left_behind_has_no_answer() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        var request = chain.Mutation(TestChain.Put("x", "w")) with
        {
            Compares = [new ObjectCompare("x", ObjectCompareKind.Value, default, "new"u8.ToArray())],
        };
        chain.Access(1).IsCut = true;
        chain.Network.Cut(Samples.Id(1), Samples.Id(2));
        chain.Network.Cut(Samples.Id(1), Samples.Id(3));
        chain.Change(Samples.Remove(1));
        await chain.OpenedAsync();
        await chain.PutAsync("x", "new");
        Assert.Equal(CraqStatus.NotOpen, (await chain.CallAsync(1, request)).Status);
    });

    /// <summary>C10: no epoch has opened without the member, which has no record of the chain.</summary>
    [Fact]
    public void Member_outside_the_master_datacenter_without_the_first_epoch_is_full() => TestChain.Run(
        async chain =>
        {
            await chain.KillAsync(3);
            var other = ChainId.FromName("other");
            var placement = Placement.Sized(new PlacementGroup("e", 2), new PlacementGroup("w", 1)) with
            {
                Master = "e",
                MinMembers = 1,
            };
            chain.Directory.Create(other, placement, ChainOptions.Default, 1, 2, 3);
            chain.Directory.Change(other, Samples.Remove(2));
            await chain.StartAsync(3);
            await chain.UntilAsync(() => chain.Directory[other].Config.IsRecordedOpen);
            Assert.Equal(Samples.Ids(1, 3), chain.Directory[other].Members());
        }, datacenters: "eew");

    /// <summary>C12.</summary>
    [Fact]
    public void Config_is_answered_only_when_durable() => TestChain.Run(async chain =>
    {
        chain.Store(3).IsHeld = true;
        chain.Access(3).IsCut = true;
        var config = chain.Change(new ChainChange.Renew());
        await chain.DelayAsync(1000);
        Assert.False(chain.Config.IsRecordedOpen);
        // A config that was not durable is not there behind a crash.
        await chain.KillAsync(3);
        await chain.StartAsync(3);
        await chain.OpenedAsync();
        Assert.Equal(config.Epoch, chain.Config.Epoch);
    });

    /// <summary>C13.</summary>
    [Fact]
    public void Repeated_write_is_applied_once_also_at_a_new_head() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("n", "0");
        var request = chain.Mutation(TestChain.Add("n", 1));
        var first = await chain.MutateAsync(request);
        Assert.Equal(first.Version, (await chain.MutateAsync(request)).Version);
        await chain.KillAsync(1);
        chain.Change(Samples.Remove(1));
        await chain.OpenedAsync();
        var again = await chain.MutateAsync(request with { Epoch = chain.Config.Epoch });
        Assert.Equal(first.Version, again.Version);
        Assert.Equal([1UL], again.Result.Sums);
        Assert.Equal("1", await chain.GetAsync(3, "n"));
    });

    /// <summary>C13.</summary>
    [Fact]
    public void Write_possibly_older_than_the_window_is_not_applied() => TestChain.Run(async chain =>
    {
        var request = chain.Mutation(TestChain.Put("x", "first"));
        Assert.Equal(Status.Ok, (await chain.MutateAsync(request)).Status);
        var version = ObjectVersion.None;
        for (var i = 0; i < 10; i++) version = await chain.PutWithMarkAsync("x", $"v{i}", chain.MarkOf(1));
        Assert.Equal(CraqStatus.Forgotten, (await chain.MutateAsync(request)).Status);
        Assert.Equal("v9", await chain.GetAsync(1, "x"));
    }, node: new CraqNodeOptions { MaxWindowIds = 4 });

    /// <summary>C13: the client has heard the refusal, so a late copy is refused too.</summary>
    [Fact]
    public void Copy_of_a_refused_request_is_refused_although_a_new_request_would_pass() => TestChain.Run(async chain =>
    {
        var request = chain.Mutation(TestChain.Put("x", "w")) with
        {
            Compares = [new ObjectCompare("x", ObjectCompareKind.Exists, default, default)],
        };
        Assert.Equal(CraqStatus.Mismatch, (await chain.MutateAsync(request)).Status);
        await chain.PutAsync("x", "v");
        Assert.Equal(CraqStatus.Mismatch, (await chain.MutateAsync(request)).Status);
        Assert.Equal("v", await chain.GetAsync(2, "x"));
    });

    /// <summary>C17.</summary>
    [Fact]
    public void Age_of_a_confirmation_counts_from_the_sending() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Network.Holds = (_, _, request) =>
            request is ConfirmRequest ? chain.DelayAsync(400) : Task.CompletedTask;
        var read = await chain.ReadAsync(2, "x", ObjectReadMode.Bounded, age: 300);
        Assert.Equal(CraqStatus.Stale, read.Status);
        var later = await chain.ReadAsync(2, "x", ObjectReadMode.Bounded, age: 700);
        Assert.Equal(Status.Ok, later.Status);
        Assert.InRange(later.Age, 400, 700);
    }, node: new CraqNodeOptions { LoggedAfter = TimeSpan.FromSeconds(60) });

    /// <summary>C18.</summary>
    [Fact]
    public void Session_read_of_a_node_behind_the_token_asks_the_tail_once() => TestChain.Run(async chain =>
    {
        // Node 2 does not hear of the commit.
        await chain.PutAsync("x", "old");
        chain.Network.DropsAnswer = (from, _, request) => from == Samples.Id(2) && request is ReplicateRequest;
        chain.Network.Cut(Samples.Id(2), Samples.Id(1));
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        chain.Network.Heal();
        await chain.UntilAsync(() => chain.MarkOf(3).Counter == 3);
        Assert.True(chain.MarkOf(2).Counter == 2);
        Assert.Equal("old", TestChain.ValueOf(await chain.ReadAsync(2, "x", ObjectReadMode.Session)));
        var read = await chain.ReadAsync(2, "x", ObjectReadMode.Session, token: chain.MarkOf(3));
        Assert.Equal("new", TestChain.ValueOf(read));
        var ahead = await chain.ReadAsync(2, "x", ObjectReadMode.Session, token: chain.MarkOf(3).Next());
        Assert.Equal(CraqStatus.Behind, ahead.Status);
        chain.Network.DropsAnswer = null;
        Assert.Equal(Status.Ok, (await write).Status);
    });

    /// <summary>C21.</summary>
    [Fact]
    public void Expired_object_reads_as_absent_and_may_be_added_again() => TestChain.Run(async chain =>
    {
        var end = chain.Time.GetUtcNow().ToUnixTimeMilliseconds() + 500;
        await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v", end)));
        Assert.Equal("v", await chain.GetAsync(2, "x"));
        await chain.DelayAsync(600);
        Assert.Null(await chain.GetAsync(2, "x"));
        Assert.Null(await chain.GetAsync(1, "x", ObjectReadMode.Eventual));
        var added = await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")) with
        {
            Compares = [new ObjectCompare("x", ObjectCompareKind.Absent, default, default)],
        });
        Assert.Equal(Status.Ok, added.Status);
        Assert.Equal("w", await chain.GetAsync(3, "x"));
    });

    [Fact]
    public void Lost_answer_is_repaired_by_a_probe() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var lost = 0;
        chain.Network.DropsAnswer = (from, to, request) =>
            request is ReplicateRequest { Records.Length: > 0 } && to == Samples.Id(3) && lost++ == 0;
        await chain.PutAsync("x", "w");
        Assert.Equal(1, lost);
    });

    [Fact]
    public void Restarted_member_takes_missing_records_from_the_predecessor() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v0");
        await chain.KillAsync(2);
        var writes = Enumerable.Range(0, 20)
            .Select(i => chain.MutateAsync(chain.Mutation(TestChain.Put($"k{i}", "v")))).ToArray();
        await chain.DelayAsync(300);
        Assert.DoesNotContain(writes, write => write.IsCompleted);
        await chain.StartAsync(2);
        Assert.All(await Task.WhenAll(writes), answer => Assert.Equal(Status.Ok, answer.Status));
        Assert.Equal(chain.MarkOf(1), chain.MarkOf(3));
    });

    [Fact]
    public void Clear_hides_all_earlier_versions() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("a", "1");
        var clear = new ObjectOperation(ObjectOperationKind.Clear, "-", 0, 0, default);
        var cleared = chain.MutateAsync(chain.Mutation(clear));
        var added = chain.MutateAsync(chain.Mutation(TestChain.Add("a", 1)));
        var put = chain.MutateAsync(chain.Mutation(TestChain.Put("b", "2")));
        Assert.Equal(Status.Ok, (await cleared).Status);
        // Requests on their way at once come in any order.
        if ((await added).IsOk) Assert.True((await added).Version < (await cleared).Version);
        else Assert.Equal(CraqStatus.Mismatch, (await added).Status);
        await put;
        Assert.Equal((await put).Version > (await cleared).Version ? "2" : null, await chain.GetAsync(2, "b"));
        Assert.Null(await chain.GetAsync(3, "a"));
        await chain.KillAsync(2);
        await chain.StartAsync(2);
        Assert.Null(await chain.GetAsync(2, "a", ObjectReadMode.Eventual));
    });

    [Fact]
    public void Slots_and_values_on_the_disk_are_loaded_outside_the_lock() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("n", "41");
        for (var node = 1; node <= 3; node++) chain.Store(node).IsCold = true;
        Assert.Equal("41", await chain.GetAsync(3, "n"));
        var sum = await chain.MutateAsync(chain.Mutation(TestChain.Add("n", 1)));
        Assert.Equal([42UL], sum.Result.Sums);
        Assert.Equal("42", await chain.GetAsync(1, "n"));
    });

    [Fact]
    public void Chain_of_a_single_member_reads_and_writes() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        Assert.Equal("v", await chain.GetAsync(1, "x"));
    }, members: 1);

    [Fact]
    public void Full_disk_refuses_writes_without_a_change() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Store(1).Admission = Status.NoSpace;
        Assert.Equal(Status.NoSpace, (await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")))).Status);
        Assert.Equal("v", await chain.GetAsync(1, "x"));
        chain.Store(1).Admission = Status.Ok;
        // A middle's full disk stalls the chain until there is room.
        chain.Store(2).Admission = Status.NoSpace;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")));
        await chain.DelayAsync(500);
        Assert.False(write.IsCompleted);
        chain.Store(2).Admission = Status.Ok;
        Assert.Equal(Status.Ok, (await write).Status);
    });

    [Theory]
    [InlineData(ObjectOperationKind.Append, "v", "+", "v+")]
    [InlineData(ObjectOperationKind.Prepend, "v", "+", "+v")]
    [InlineData(ObjectOperationKind.Append, null, "+", null)]
    [InlineData(ObjectOperationKind.Delete, null, "", null)]
    [InlineData(ObjectOperationKind.Touch, null, "", null)]
    [InlineData(ObjectOperationKind.Add, "x", "", null)]
    public void Operation_fits_the_object_or_is_a_mismatch(
        ObjectOperationKind kind, string? before, string operand, string? after) => TestChain.Run(async chain =>
    {
        if (before is not null) await chain.PutAsync("x", before);
        var done = await chain.MutateAsync(chain.Mutation(new ObjectOperation(kind, "x", 0, ObjectOperation.KeepExpiry,
            System.Text.Encoding.UTF8.GetBytes(operand), 1)));
        Assert.Equal(after is null ? CraqStatus.Mismatch : Status.Ok, done.Status);
        Assert.Equal(after ?? before, await chain.GetAsync(3, "x"));
    });

    [Theory]
    [InlineData("18446744073709551615", 2, "1")]
    [InlineData("5", -7, "0")]
    [InlineData("5", long.MinValue, "0")]
    public void Sum_wraps_upwards_and_stops_at_zero(string before, long delta, string after) =>
        TestChain.Run(async chain =>
        {
            await chain.PutAsync("n", before);
            Assert.Equal(Status.Ok, (await chain.MutateAsync(chain.Mutation(TestChain.Add("n", delta)))).Status);
            Assert.Equal(after, await chain.GetAsync(2, "n"));
        });
}
