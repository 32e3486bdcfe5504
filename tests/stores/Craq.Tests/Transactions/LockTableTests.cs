using Craq.Chains;
using Craq.Storage;
using Craq.Tests.Chains;
using Craq.Tests.Coordination;

namespace Craq.Tests.Transactions;

/// <summary>The locks of a chain are a function of its records: every member has them, and none is lost.</summary>
public sealed class LockTableTests
{
    private static readonly Guid s_transaction = new(7, 0, 0, new byte[8]);

    [Fact]
    public void Keys_are_free_once_the_part_has_ended_and_held_again_if_the_ending_record_is_cut_off()
    {
        var table = new LockTable();
        table.Add(Lock(10));
        Assert.True(table.Holds("x"));
        table.Settle(s_transaction, Version(12));
        Assert.False(table.Holds("x"));
        Assert.True(table.IsEmpty);
        table.Cut(Version(11));
        Assert.True(table.Holds("x"));
        Assert.NotNull(table.Find(s_transaction));
        table.Cut(Version(9));
        Assert.False(table.Holds("x"));
        Assert.Equal(0, table.Bytes);
    }

    [Fact]
    public void Part_ended_behind_a_version_held_the_keys_as_of_the_version()
    {
        var table = new LockTable();
        table.Add(Lock(10));
        table.Settle(s_transaction, Version(12));
        Assert.Empty(table.AsOf(Version(9)));
        Assert.Single(table.AsOf(Version(11)));
        Assert.Empty(table.AsOf(Version(12)));
        table.Commit(Version(12));
        Assert.Empty(table.AsOf(Version(11)));
        Assert.Equal(0, table.Bytes);
    }

    [Fact]
    public void Record_other_than_a_lock_of_a_transaction_is_refused() => TestTransactions.Run(async world =>
    {
        var last = world.With(3, 1, core => core.Last);
        var record = RecordCodec.Encode(new ChainRecord(
            world.Ids[1], ChainRecordKind.Lock, last.Next(), last, [], [])
        { Transaction = s_transaction });
        var answer = await world.Nodes.CallAsync(3,
            new ReplicateRequest(world.Config(1).Epoch, world.Ids[1], last, ObjectVersion.None, [record]));
        Assert.Equal(Status.BadRequest, answer.Status);
        Assert.Equal(last, world.With(3, 1, core => core.Last));
    });

    [Fact]
    public void Checkpoint_of_a_chain_has_the_locks_and_the_ended_parts() => TestTransactions.Run(async world =>
    {
        var aborted = world.Request(world.Part(0, TestChain.Put("x", "a")) with
        {
            Compares = [new ObjectCompare("x", ObjectCompareKind.Exists, default, default)],
        });
        Assert.False((await world.SendAsync(aborted)).IsCommitted);
        world.HangOnceDecided(1);
        _ = world.SendAsync(world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 1);
        var snapshot = world.With(1, 0, core => core.Snapshot());
        var options = new CraqNodeOptions();
        var again = new ChainCore(world.Ids[0], Samples.Id(1), new MemoryStore(world.Nodes.Time),
            world.Directory.For(), options, new NodeBudget(options));
        again.Replay(new StoreRecord(
            StoreRecordKind.ChainState, world.Ids[0], snapshot.Mark, snapshot.State, default));
        Assert.True(again.Locks.Holds("x"));
        var held = Assert.Single(again.Locks.Held);
        Assert.Equal(2, held.Parts.Length);
        Assert.Equal("x", Assert.Single(held.Record.Writes).Key.ToString());
        Assert.True(again.Window.TryFind(PartOutcome.IdOf(aborted.Id), out _, out var result));
        Assert.Equal(CraqStatus.Mismatch, PartOutcome.Decode(result).Reason);
    });

    [Fact]
    public void Nodes_go_on_with_the_locks_after_all_nodes_were_killed() => TestTransactions.Run(async world =>
    {
        world.HangOnceDecided(1);
        _ = world.SendAsync(world.Part(0, TestChain.Put("x", "a")), world.Part(1, TestChain.Put("x", "b")));
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 1);
        for (var node = 1; node <= 3; node++) await world.Nodes.KillAsync(node);
        for (var node = 1; node <= 3; node++) await world.Nodes.StartAsync(node);
        await world.Nodes.UntilAsync(() => world.Directory.Decisions.Count == 0);
        Assert.Equal("ab", await world.GetAsync(0, "x") + await world.GetAsync(1, "x"));
    });

    private static ObjectVersion Version(int counter) => new((1L << 40) | (uint)counter);

    private static HeldLock Lock(int version)
    {
        var record = new ChainRecord(Samples.Known, ChainRecordKind.Lock, Version(version), Version(version - 1),
            [new RecordOrigin(PartOutcome.IdOf(s_transaction), HeldLock.Encode([], MutateResult.Empty))], [])
        {
            Transaction = s_transaction,
            Locked = ["x"],
        };
        return HeldLock.Of(record, RecordCodec.Encode(record));
    }
}
