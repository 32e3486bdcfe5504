using Craq.Learning;
using Craq.Storage;
using Craq.Tests.Chains;
using Craq.Tests.Coordination;

namespace Craq.Tests.Learning;

/// <summary>Node 4 comes to a chain of nodes 1, 2, 3.</summary>
public sealed class LearningTests
{
    [Fact]
    public void Learner_takes_over_all_objects_and_becomes_a_full_member() => Run(async chain =>
    {
        for (var i = 0; i < 300; i++) await chain.PutAsync($"k{i}", $"v{i}");
        await LearnAsync(chain, 4, index: 1);
        Assert.Equal(Samples.Ids(1, 4, 2, 3), chain.Config.Members.Select(member => member.Node));
        await chain.PutAsync("after", "v");
        for (var i = 0; i < 300; i += 13) Assert.Equal($"v{i}", await chain.GetAsync(4, $"k{i}"));
        Assert.Equal("v", await chain.GetAsync(4, "after"));
    });

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    public void Learner_joins_at_either_end(int index) => Run(async chain =>
    {
        for (var i = 0; i < 20; i++) await chain.PutAsync($"k{i}", $"v{i}");
        await LearnAsync(chain, 4, index);
        Assert.Equal(Samples.Id(4), chain.Config.Members[index].Node);
        // A learner knows no write ids below its base (C13): the client has seen a newer mark.
        var put = chain.Mutation(TestChain.Put("k1", "new")) with { NotBefore = chain.MarkOf(4) };
        Assert.Equal(Status.Ok, (await chain.MutateAsync(put)).Status);
        for (var node = 1; node <= 4; node++) Assert.Equal("new", await chain.GetAsync(node, "k1"));
        Assert.Equal("v2", await chain.GetAsync(4, "k2"));
    });

    [Fact]
    public void Writes_go_on_while_a_node_learns() => Run(async chain =>
    {
        for (var i = 0; i < 100; i++) await chain.PutAsync($"k{i}", "old");
        var learning = LearnAsync(chain, 4, index: 3);
        for (var i = 0; i < 100; i++) await chain.PutAsync($"k{i}", "new");
        await learning;
        for (var i = 0; i < 100; i += 7) Assert.Equal("new", await chain.GetAsync(4, $"k{i}"));
    });

    [Fact]
    public void Returning_node_copies_changed_objects_alone() => Run(async chain =>
    {
        for (var i = 0; i < 200; i++) await chain.PutAsync($"k{i}", "old");
        await chain.UntilAsync(() => chain.MarkOf(2) == chain.LastOf(1));
        await RemoveAsync(chain, 2);
        await chain.PutAsync("k7", "new");
        await chain.MutateAsync(chain.Mutation(new ObjectOperation(ObjectOperationKind.Delete, "k8", 0, 0, default)));
        await LearnAsync(chain, 2, index: 0);
        Assert.Equal("new", await chain.GetAsync(2, "k7"));
        Assert.Null(await chain.GetAsync(2, "k8"));
        Assert.Equal("old", await chain.GetAsync(2, "k9"));
        // k7 has changed and is copied; k8 is gone and is dropped.
        Assert.Equal(1, chain.Store(2).Log.Count(record => record.Kind == StoreRecordKind.Copy));
        Assert.Equal(1, chain.Store(2).Log.Count(record => record.Kind == StoreRecordKind.Remove));
    });

    [Fact]
    public void Returning_node_drops_records_never_committed() => Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        // The tail does not persist it, and the members before it are removed.
        chain.Store(3).IsHeld = true;
        _ = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "lost")));
        await chain.UntilAsync(() => chain.LastOf(2) > chain.MarkOf(2));
        chain.Network.Cut(Samples.Id(2), Samples.Id(3));
        chain.Network.Cut(Samples.Id(1), Samples.Id(3));
        await chain.KillAsync(3);
        await chain.StartAsync(3);
        chain.Network.Heal();
        chain.Change(Samples.Remove(1));
        await chain.OpenedAsync();
        var winner = await chain.GetAsync(3, "x");
        await LearnAsync(chain, 1, index: 0);
        for (var node = 1; node <= 3; node++) Assert.Equal(winner, await chain.GetAsync(node, "x"));
    });

    /// <summary>C10: a restart takes the records before a learner's base for committed ones.</summary>
    [Fact]
    public void Restarted_member_has_none_of_the_records_never_committed() => Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Network.Cut(Samples.Id(1), Samples.Id(2));
        chain.Network.Cut(Samples.Id(1), Samples.Id(3));
        _ = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "lost")));
        await chain.UntilAsync(() => chain.LastOf(1) > chain.LastOf(2));
        await chain.DelayAsync(100);
        chain.Change(Samples.Remove(1));
        chain.Network.Heal();
        await chain.OpenedAsync();
        await LearnAsync(chain, 1, index: 2);
        Assert.Equal("old", await chain.GetAsync(1, "x"));
        await chain.KillAsync(1);
        await chain.StartAsync(1);
        Assert.Equal("old", await chain.GetAsync(1, "x", ObjectReadMode.Eventual));
    });

    [Fact]
    public void Restarted_learner_goes_on_with_the_copied_objects() => Run(async chain =>
    {
        for (var i = 0; i < 50; i++) await chain.PutAsync($"k{i}", $"v{i}");
        var first = Start(chain, 4, index: 3);
        await chain.UntilAsync(() => chain.Store(4).Log.Any(record => record.Kind == StoreRecordKind.Copy));
        first.Stop();
        await chain.DelayAsync(100);
        await chain.KillAsync(4);
        await chain.StartAsync(4);
        await LearnAsync(chain, 4, index: 3);
        for (var i = 0; i < 50; i += 9) Assert.Equal($"v{i}", await chain.GetAsync(4, $"k{i}"));
    });

    /// <summary>C13: the write's record stands above the base and before the Full record.</summary>
    [Fact]
    public void Restarted_learner_keeps_ids_of_records_above_the_base() => Run(async chain =>
    {
        await chain.PutAsync("n", "0");
        var add = chain.Mutation(TestChain.Add("n", 1));
        MutateResponse? first = null;
        chain.Network.Holds = async (from, _, request) =>
        {
            if (from != Samples.Id(4) || request is not ReconcileRequest) return;
            if (first is not null || !HasBase(chain)) return;
            add = add with { NotBefore = chain.MarkOf(1) };
            first = await chain.MutateAsync(add);
        };
        await LearnAsync(chain, 4, index: 0);
        Assert.Equal(Status.Ok, first!.Status);
        var log = chain.Store(4).Log.ToList();
        Assert.InRange(
            log.FindIndex(record => record.Kind == StoreRecordKind.Chain && record.Version == first.Version), 0,
            log.FindIndex(record => record.Kind == StoreRecordKind.Full));
        await chain.DelayAsync(500);
        await chain.KillAsync(4);
        await chain.StartAsync(4);
        var again = new MutateResponse(CraqStatus.NotOpen, Epoch.None);
        for (var tries = 0; again.Status == CraqStatus.NotOpen && tries < 100; tries++)
        {
            again = await chain.MutateAsync(add with { Epoch = chain.Config.Epoch });
            await chain.DelayAsync(20);
        }

        Assert.Equal(first.Version, again.Version);
        Assert.Equal("1", await chain.GetAsync(2, "n"));
    });

    /// <summary>C11: the source has no object as of the base whose newer version is clean there.</summary>
    [Fact]
    public void Restarted_member_has_objects_overwritten_during_learning() => Run(async chain =>
    {
        await chain.PutAsync("k", "old");
        var newer = ObjectVersion.None;
        chain.Network.Holds = async (from, _, request) =>
        {
            if (!newer.IsNone || from != Samples.Id(4) || request is not ReconcileRequest || !HasBase(chain)) return;
            newer = await chain.PutAsync("k", "new");
            await chain.UntilAsync(() => Enumerable.Range(1, 3).All(node => chain.MarkOf(node) == chain.LastOf(1)));
        };
        Start(chain, 4, index: 3);
        await chain.UntilAsync(() => IsComplete(chain));
        await chain.UntilAsync(() => chain.Store(4).DurableUntil >= chain.Store(4).Log.Count);
        await chain.KillAsync(4);
        for (var node = 1; node <= 3; node++) chain.Network.Cut(Samples.Id(node), Samples.Id(4));
        await chain.StartAsync(4);
        Assert.True(chain.Store(4).TryFind(chain.Id, "k", out var slot));
        Assert.Equal(newer, slot?.Version);
    });

    /// <summary>C11: a Lock's writes are no versions, and the source's object as of the base is no older one.</summary>
    [Fact]
    public void Learner_copies_an_object_that_an_aborted_transaction_had_locked() => Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        await chain.UntilAsync(() => chain.MarkOf(2) == chain.LastOf(1));
        await RemoveAsync(chain, 2);
        // Enough objects for digests: the learner follows records before it copies.
        for (var i = 0; i < 300; i++) await chain.PutAsync($"k{i}", "v");
        await chain.PutAsync("x", "new");
        var unlocked = ObjectVersion.None;
        chain.Network.Holds = async (from, _, request) =>
        {
            if (from != Samples.Id(2) || request is not ReconcileRequest asked || asked.Base.IsNone) return;
            if (unlocked.IsNone && !asked.Prefixes.IsEmpty) unlocked = await LockAndAbortAsync(chain, "x");
            if (!asked.Keys.IsEmpty) await chain.UntilAsync(() => chain.MarkOf(2) >= unlocked);
        };
        await LearnAsync(chain, 2, index: 2);
        Assert.False(unlocked.IsNone);
        Assert.Equal("new", await chain.GetAsync(2, "x"));
    });

    /// <summary>C11: a learner follows the chain's records while it copies objects.</summary>
    [Fact]
    public void Late_copy_does_not_bring_a_deleted_object_back() => Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await chain.UntilAsync(() => Enumerable.Range(1, 3).All(node => chain.MarkOf(node) == chain.LastOf(1)));
        var (isCopying, deleted) = (false, new TaskCompletionSource());
        chain.Network.Holds = (from, _, request) =>
        {
            isCopying |= from == Samples.Id(4) && request is ReconcileRequest { Keys.IsEmpty: false };
            return isCopying && from == Samples.Id(4) && request is FetchRequest ? deleted.Task : Task.CompletedTask;
        };
        // The source has found the object and reads its value.
        chain.Store(1).Loses = async _ =>
        {
            if (deleted.Task.IsCompleted) return false;
            await chain.MutateAsync(
                chain.Mutation(new ObjectOperation(ObjectOperationKind.Delete, "x", 0, 0, default)));
            deleted.SetResult();
            await chain.UntilAsync(() => chain.MarkOf(4) >= chain.LastOf(1));
            return false;
        };
        await LearnAsync(chain, 4, index: 1);
        Assert.True(deleted.Task.IsCompleted);
        Assert.Null(await chain.GetAsync(4, "x"));
    });

    /// <summary>C11, C19.</summary>
    [Fact]
    public void Learner_takes_an_object_unreadable_at_the_source_from_another_member() => Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await chain.UntilAsync(() => Enumerable.Range(1, 3).All(node => chain.MarkOf(node) == chain.LastOf(1)));
        chain.Store(1).Loses = key => Task.FromResult(key.Equals(new ObjectKey("x")));
        await LearnAsync(chain, 4, index: 1);
        Assert.Equal("v", await chain.GetAsync(4, "x"));
    });

    [Fact]
    public void Learner_answers_no_read_and_is_no_source() => Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Network.Holds = (from, to, request) =>
            from == Samples.Id(4) && request is FetchRequest && IsComplete(chain)
                ? chain.DelayAsync(2000)
                : Task.CompletedTask;
        var learner = Start(chain, 4, index: 3);
        await chain.UntilAsync(() => IsComplete(chain));
        foreach (var mode in new[] { ObjectReadMode.Strong, ObjectReadMode.Eventual })
            Assert.NotEqual(Status.Ok, (await chain.ReadAsync(4, "x", mode)).Status);
        var asked = await chain.CallAsync(
            4, new ReconcileRequest(chain.Config.Epoch, chain.Id, ObjectVersion.None, [], []));
        Assert.NotEqual(Status.Ok, asked.Status);
        chain.Network.Holds = null;
        await chain.UntilAsync(() => chain.Config.IndexOf(Samples.Id(4)) >= 0 && chain.Config.IsRecordedOpen);
        Assert.True(learner.IsEnded);
    });

    [Fact]
    public void Source_that_forgot_records_starts_another_round() => TestChain.Run(async chain =>
    {
        Attach(chain);
        for (var i = 0; i < 50; i++) await chain.PutAsync($"k{i}", "old");
        var held = new TaskCompletionSource();
        chain.Network.Holds = (from, to, request) =>
            from == Samples.Id(4) && request is FetchRequest && IsComplete(chain) ? held.Task : Task.CompletedTask;
        var learner = Start(chain, 4, index: 3);
        await chain.UntilAsync(() => IsComplete(chain));
        for (var i = 0; i < 50; i++) await chain.PutAsync($"k{i}", "new");
        chain.Network.Holds = null;
        held.SetResult();
        await chain.UntilAsync(() => learner.IsEnded && chain.Config.IsRecordedOpen);
        Assert.Equal(2, chain.Store(4).Log.Count(record => record.Kind == StoreRecordKind.Full));
        for (var i = 0; i < 50; i += 7) Assert.Equal("new", await chain.GetAsync(4, $"k{i}"));
    }, members: 3, nodes: 4, node: new CraqNodeOptions { MaxHotBytes = 1024 });

    private static void Run(Func<TestChain, Task> body) => TestChain.Run(async chain =>
    {
        Attach(chain);
        await body(chain);
    }, members: 3, nodes: 4);

    private static void Attach(TestChain chain)
    {
        for (var node = 1; node <= 4; node++) Attach(chain, node);
    }

    private static void Attach(TestChain chain, int node)
    {
        var source = new Source(chain.Node(node), chain.Store(node), chain.Time);
        chain.Node(node).Route(
            CraqOpcode.Reconcile, (request, reply) => source.Handle((ReconcileRequest)request, reply));
    }

    private static Learner Start(TestChain chain, int node, int index)
    {
        var learner = new Learner(chain.Node(node), chain.Store(node), chain.Access(node),
            chain.Network.From(Samples.Id(node)), chain.Time, new CraqNodeOptions(), chain.Id)
        { Index = index };
        _ = learner.RunAsync();
        return learner;
    }

    private static bool IsComplete(TestChain chain) =>
        chain.Store(4).Log.Any(record => record.Kind == StoreRecordKind.Full);

    private static bool HasBase(TestChain chain) =>
        chain.Store(4).Log.Any(record => record.Kind == StoreRecordKind.ChainState);

    /// <returns>The version of the record that unlocks the key.</returns>
    private static async Task<ObjectVersion> LockAndAbortAsync(TestChain chain, string key)
    {
        var (head, id) = (TestChain.NumberOf(chain.Config.Head.Node), new Guid(1, 2, 3, new byte[8]));
        var part = new TransactPart(chain.Id, chain.MarkOf(head), [], [], [TestChain.Put(key, "never")]);
        var voted = await chain.CallAsync(head, new PreparePartRequest(chain.Config.Epoch, id, [part.Id], part));
        Assert.Equal(Status.Ok, voted.Status);
        var ended = await chain.CallAsync(
            head, new SettlePartRequest(chain.Config.Epoch, chain.Id, id, part.NotBefore, false));
        Assert.Equal(Status.Ok, ended.Status);
        return chain.LastOf(head);
    }

    private static async Task LearnAsync(TestChain chain, int node, int index)
    {
        Start(chain, node, index);
        await chain.UntilAsync(() => chain.Config.IndexOf(Samples.Id(node)) == index && chain.Config.IsRecordedOpen);
    }

    private static async Task RemoveAsync(TestChain chain, int node)
    {
        chain.Change(Samples.Remove(node));
        await chain.OpenedAsync();
    }
}
