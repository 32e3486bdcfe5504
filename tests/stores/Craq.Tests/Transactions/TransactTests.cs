using Craq.Tests.Chains;
using Craq.Tests.Coordination;

namespace Craq.Tests.Transactions;

/// <summary>Transactions over several chains (CRAQ 4.1.3): all or nothing, once, and never guessed (C15).</summary>
public sealed class TransactTests
{
    private static readonly CraqNodeOptions s_sweeping = new() { DecisionInterval = TimeSpan.FromSeconds(1) };
    private static readonly CraqNodeOptions s_patient = new() { LockLimit = TimeSpan.FromSeconds(5) };

    [Fact]
    public void Transaction_over_three_chains_commits_all_parts() => TestTransactions.Run(async world =>
    {
        await world.MutateAsync(0, TestChain.Put("n", "5"));
        var answer = await world.CommitAsync(world.Part(0, TestChain.Add("n", 2), TestChain.Put("x", "a")),
            world.Part(1, TestChain.Put("x", "b")), world.Part(2, TestChain.Put("x", "c")));
        Assert.Equal([7UL], answer.Parts[0].Result.Sums);
        Assert.Equal("7", await world.GetAsync(0, "n"));
        Assert.Equal("abc", await world.GetAsync(0, "x") + await world.GetAsync(1, "x") + await world.GetAsync(2, "x"));
        for (var i = 0; i < 3; i++)
        {
            Assert.True(answer.Parts[i].Version <= answer.Parts[i].Mark);
            Assert.False(world.IsLocked(i, "x"));
        }

        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 0);
    });

    [Fact]
    public void Transaction_without_writes_reads_a_snapshot() => TestTransactions.Run(async world =>
    {
        await world.CommitAsync(world.Part(0, TestChain.Put("x", "1")), world.Part(1, TestChain.Put("y", "1")));
        var answer = await world.CommitAsync(world.Reading(0, "x"), world.Reading(1, "y", "z"));
        Assert.Equal("1", TestTransactions.ValueOf(answer.Parts[0].Result.Reads[0]));
        Assert.Equal("1", TestTransactions.ValueOf(answer.Parts[1].Result.Reads[0]));
        Assert.False(answer.Parts[1].Result.Reads[1].IsFound);
    });

    [Fact]
    public void Mismatch_of_a_single_part_aborts_all_parts() => TestTransactions.Run(async world =>
    {
        await world.MutateAsync(1, TestChain.Put("x", "there"));
        var answer = await world.SendAsync(world.Part(0, TestChain.Put("x", "a")),
            world.Part(1, TestChain.Put("x", "b")) with
            {
                Compares = [TestTransactions.IfAbsent("other"), TestTransactions.IfAbsent("x")],
            });
        Assert.Equal(Status.Ok, answer.Status);
        Assert.False(answer.IsCommitted);
        Assert.Equal((1, CraqStatus.Mismatch, 1), (answer.Part, answer.Reason, answer.Index));
        Assert.Null(await world.GetAsync(0, "x"));
        Assert.Equal("there", await world.GetAsync(1, "x"));
        Assert.False(world.IsLocked(0, "x") || world.IsLocked(1, "x"));
        // A chain's own no is a record: the log has nothing to decide.
        Assert.Empty(world.Directory.Decisions);
    });

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Conflicting_transactions_are_carried_out_in_sequence(int seed) =>
        TestTransactions.Run(async world =>
        {
            await world.CommitAsync(world.Part(0, TestChain.Put("x", "100")), world.Part(1, TestChain.Put("y", "100")));
            var transfers = Enumerable.Range(1, 12).Select(amount => world.SendAsync(
                world.Part(0, TestChain.Add("x", -amount)), world.Part(1, TestChain.Add("y", amount)))).ToArray();
            var looks = Enumerable.Range(0, 4)
                .Select(_ => world.SendAsync(world.Reading(0, "x"), world.Reading(1, "y"))).ToArray();
            var moved = 0;
            for (var i = 0; i < transfers.Length; i++)
            {
                var answer = await transfers[i];
                Assert.Equal(Status.Ok, answer.Status);
                if (answer.IsCommitted) moved += i + 1;
                else Assert.Equal(CraqStatus.Locked, answer.Reason);
            }

            foreach (var look in await Task.WhenAll(looks))
            {
                if (!look.IsCommitted) continue;
                Assert.Equal(200, look.Parts.Sum(part =>
                    int.Parse(TestTransactions.ValueOf(part.Result.Reads[0])!)));
            }

            Assert.True(moved > 0);
            Assert.Equal($"{100 - moved}", await world.GetAsync(0, "x"));
            Assert.Equal($"{100 + moved}", await world.GetAsync(1, "y"));
        }, seed: seed);

    /// <summary>C15, section 13, 11: the log decides, each chain settles alone.</summary>
    [Fact]
    public void Lead_dead_between_decision_and_settling_leaves_a_committed_transaction() =>
        TestTransactions.Run(async world =>
        {
            world.HangOnceDecided(1);
            var request = world.Request(world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")),
                world.Part(2, TestChain.Put("x", "c")));
            _ = world.SendAsync(request);
            await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 1);
            Assert.True(world.IsLocked(0, "x") && world.IsLocked(1, "x") && world.IsLocked(2, "x"));
            await world.Nodes.KillAsync(1);
            await world.RemoveAsync(1);
            await world.Nodes.UntilAsync(() =>
                !world.IsLocked(0, "x") && !world.IsLocked(1, "x") && !world.IsLocked(2, "x"));
            Assert.Equal("abc",
                await world.GetAsync(0, "x") + await world.GetAsync(1, "x") + await world.GetAsync(2, "x"));
            await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 0);
            // The client that got no answer asks the new lead.
            var again = await world.SendAsync(request);
            Assert.True(again.IsCommitted);
        });

    [Fact]
    public void Decision_whose_lead_died_before_the_drop_is_swept() => TestTransactions.Run(async world =>
    {
        world.Nodes.Access(1).Dropping = () => Task.Delay(TimeSpan.FromDays(1), world.Nodes.Time);
        await world.CommitAsync(world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        await world.Nodes.KillAsync(1);
        await world.RemoveAsync(1);
        Assert.Single(world.Directory.Decisions);
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 0);
        Assert.Equal("ab", await world.GetAsync(0, "x") + await world.GetAsync(1, "x"));
    }, s_sweeping);

    [Fact]
    public void Sweep_leaves_a_decision_whose_part_has_not_ended() => TestTransactions.Run(async world =>
    {
        world.HangOnceDecided(1);
        _ = world.SendAsync(
            world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 1);
        world.Nodes.Network.Cut(Samples.Id(1), Samples.Id(2));
        world.Nodes.Network.Cut(Samples.Id(2), Samples.Id(3));
        await world.Nodes.DelayAsync(5_000);
        Assert.Single(world.Directory.Decisions);
        world.Nodes.Network.Heal();
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 0);
        Assert.Equal("ab", await world.GetAsync(0, "x") + await world.GetAsync(1, "x"));
    }, s_sweeping);

    [Fact]
    public void Lead_dead_before_the_decision_leaves_an_aborted_transaction() => TestTransactions.Run(async world =>
    {
        world.Nodes.Access(1).IsCut = true;
        var request = world.Request(world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        _ = world.SendAsync(request);
        await world.Nodes.UntilAsync(() => world.IsLocked(0, "x") && world.IsLocked(1, "x"));
        await world.Nodes.KillAsync(1);
        await world.RemoveAsync(1);
        await world.Nodes.UntilAsync(() => !world.IsLocked(0, "x") && !world.IsLocked(1, "x"));
        Assert.Null(await world.GetAsync(0, "x"));
        Assert.Null(await world.GetAsync(1, "x"));
        var again = await world.SendAsync(request);
        Assert.Equal((Status.Ok, false), (again.Status, again.IsCommitted));
    });

    [Fact]
    public void Mutations_of_a_locked_key_wait_within_the_bytes() => TestTransactions.Run(async world =>
    {
        for (var node = 1; node <= 3; node++) world.Nodes.Access(node).IsCut = true;
        await world.SendAsync(world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        for (var round = 0; round < 2; round++)
        {
            var first = world.MutateAsync(0, TestChain.Put("x", new string('a', 600)));
            await world.Nodes.DelayAsync(100);
            var second = await world.MutateAsync(0, TestChain.Put("x", new string('b', 600)));
            Assert.Equal(Status.Overloaded, second.Status);
            Assert.False(first.IsCompleted);
            // Keys that no transaction holds take writes meanwhile.
            Assert.Equal(Status.Ok, (await world.MutateAsync(0, TestChain.Put("y", new string('c', 600)))).Status);
            Assert.Equal(CraqStatus.Locked, (await first).Status);
        }
    }, new CraqNodeOptions { MaxBlockedBytes = 1_000 });

    [Fact]
    public void Keys_stay_locked_while_the_log_is_away() => TestTransactions.Run(async world =>
    {
        for (var node = 1; node <= 3; node++) world.Nodes.Access(node).IsCut = true;
        var answer = await world.SendAsync(
            world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        Assert.Equal(CraqStatus.Unconfirmed, answer.Status);
        await world.Nodes.DelayAsync(5000);
        Assert.True(world.IsLocked(0, "x") && world.IsLocked(1, "x"));
        Assert.Equal(CraqStatus.Locked, (await world.MutateAsync(0, TestChain.Put("x", "w"))).Status);
        for (var node = 1; node <= 3; node++) world.Nodes.Access(node).IsCut = false;
        await world.Nodes.UntilAsync(() => !world.IsLocked(0, "x") && !world.IsLocked(1, "x"));
        Assert.Null(await world.GetAsync(0, "x"));
        Assert.Null(await world.GetAsync(1, "x"));
    });

    [Fact]
    public void Repeated_transaction_has_the_same_outcome_once() => TestTransactions.Run(async world =>
    {
        await world.MutateAsync(0, TestChain.Put("n", "1"));
        await world.MutateAsync(1, TestChain.Put("n", "1"));
        var request = world.Request(world.Part(0, TestChain.Add("n", 1)), world.Part(1, TestChain.Add("n", 1)));
        var answers = await Task.WhenAll(
            world.SendAsync(request), world.SendAsync(request), world.SendAsync(request));
        var later = await world.SendAsync(request);
        foreach (var answer in answers.Append(later))
        {
            Assert.True(answer.IsCommitted);
            Assert.All(answer.Parts, part => Assert.Equal([2UL], part.Result.Sums));
        }

        Assert.Equal("2", await world.GetAsync(0, "n"));
        Assert.Equal("2", await world.GetAsync(1, "n"));
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 0);
    });

    [Fact]
    public void Aborted_transaction_stays_aborted_when_repeated() => TestTransactions.Run(async world =>
    {
        await world.MutateAsync(1, TestChain.Put("x", "there"));
        var request = world.Request(world.Part(0, TestChain.Put("x", "a")),
            world.Part(1, TestChain.Put("x", "b")) with { Compares = [TestTransactions.IfAbsent("x")] });
        Assert.False((await world.SendAsync(request)).IsCommitted);
        await world.MutateAsync(1, new ObjectOperation(ObjectOperationKind.Delete, "x", 0, 0, default));
        await world.RemoveAsync(1);
        var again = await world.SendAsync(request);
        Assert.Equal((Status.Ok, false, CraqStatus.Mismatch), (again.Status, again.IsCommitted, again.Reason));
        Assert.Null(await world.GetAsync(0, "x"));
    });

    [Fact]
    public void Late_Prepare_finds_the_abort_and_takes_no_lock() => TestTransactions.Run(async world =>
    {
        world.Nodes.Network.Holds = (_, to, request) => request is PreparePartRequest && to == Samples.Id(2)
            ? Task.FromException(new TransportException("Held back.", outcomeUnknown: true))
            : Task.CompletedTask;
        var answer = await world.SendAsync(
            world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        Assert.Equal((Status.Ok, false, 1), (answer.Status, answer.IsCommitted, answer.Part));
        var last = world.With(2, 1, core => core.Last);
        world.Nodes.Network.Holds = null;
        var late = world.Nodes.Network.Sent.Select(sent => sent.Request).OfType<PreparePartRequest>().First();
        var vote = await world.Nodes.CallAsync(2, late);
        Assert.Equal((Status.Ok, PartState.Aborted), (vote.Status, vote.State));
        Assert.False(world.IsLocked(1, "x"));
        Assert.Equal(last, world.With(2, 1, core => core.Last));
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 0);
    });

    [Fact]
    public void Forgotten_part_is_never_carried_out() => TestTransactions.Run(async world =>
    {
        for (var i = 0; i < 6; i++) await world.MutateAsync(1, TestChain.Put($"k{i}", "v"));
        Assert.True(world.With(2, 1, core => core.Window.Floor) > ObjectVersion.None);
        var answer = await world.SendAsync(
            world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        Assert.Equal((Status.Ok, false, CraqStatus.Forgotten), (answer.Status, answer.IsCommitted, answer.Reason));
        Assert.Null(await world.GetAsync(0, "x"));
        Assert.Null(await world.GetAsync(1, "x"));
    }, new CraqNodeOptions { MaxWindowIds = 3 });

    [Fact]
    public void Mutation_of_a_locked_key_waits_for_the_transaction_and_reads_do_not() =>
        TestTransactions.Run(async world =>
        {
            await world.MutateAsync(0, TestChain.Put("x", "old"));
            var decided = new TaskCompletionSource();
            world.Nodes.Access(1).Decided = () => decided.Task;
            var transaction = world.SendAsync(
                world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
            await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 1);
            var append = new ObjectOperation(
                ObjectOperationKind.Append, "x", 0, ObjectOperation.KeepExpiry, "+"u8.ToArray());
            var write = world.MutateAsync(0, append);
            Assert.Equal(Status.Ok, (await world.MutateAsync(0, TestChain.Put("free", "v"))).Status);
            Assert.Equal("old", await world.GetAsync(0, "x"));
            await world.Nodes.DelayAsync(500);
            Assert.False(write.IsCompleted);
            decided.SetResult();
            Assert.True((await transaction).IsCommitted);
            Assert.Equal(Status.Ok, (await write).Status);
            Assert.Equal("a+", await world.GetAsync(0, "x"));
        }, s_patient);

    [Fact]
    public void Second_transaction_on_a_locked_key_is_refused_at_once() => TestTransactions.Run(async world =>
    {
        var decided = new TaskCompletionSource();
        world.Nodes.Access(1).Decided = () => decided.Task;
        var first = world.SendAsync(
            world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "a")));
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 1);
        var second = await world.SendAsync(
            world.Part(1, TestChain.Put("x", "b")), world.Part(2, TestChain.Put("x", "b")));
        Assert.Equal((false, CraqStatus.Locked, 0), (second.IsCommitted, second.Reason, second.Part));
        decided.SetResult();
        Assert.True((await first).IsCommitted);
        Assert.Equal("aa", await world.GetAsync(0, "x") + await world.GetAsync(1, "x"));
        Assert.Null(await world.GetAsync(2, "x"));
    }, s_patient);

    [Fact]
    public void Transaction_at_another_node_than_the_lead_is_sent_to_the_lead() => TestTransactions.Run(async world =>
    {
        var request = world.Request(world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        var answer = await world.Nodes.CallAsync(2, request);
        Assert.Equal(CraqStatus.WrongRole, answer.Status);
        Assert.Equal(Samples.Id(1), answer.View!.Config.Head.Node);
        Assert.False(world.IsLocked(0, "x") || world.IsLocked(1, "x"));
    });
}
