using Corfu;
using Tango.Records;
using Tango.Testing;
using Tango.Tests.Groups;

namespace Tango.Tests.Decisions;

/// <summary>Transactions that the sequencer decides as it grants the position of their record.</summary>
public sealed class SequencerDecisionTests
{
    /// <summary>R33: the append has returned, so that the entry is at all replicas.</summary>
    [Fact]
    public async Task Granted_transaction_has_committed_with_the_append()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, second) = await world.OpenAsync();
        var from = await world.TailAsync();
        await using var tx = runtime.BeginTx();
        await second.SetAsync("x", await first.BalanceAsync("x") + 5);
        var committed = Assert.IsType<TxOutcome.Committed>(await tx.EndTxAsync());
        Assert.Equal((from, 0), (committed.Version.Position, committed.Version.Index));
        Assert.Equal([CommitFlags.Decided], await world.CommitsAsync(from));
        Assert.Equal(5, await second.BalanceAsync("x"));

        // No decision record follows, though the two objects may be played by different runtimes.
        var (_, _, played) = await world.OpenAsync(DecisionWorld.Playing);
        Assert.Equal(5, await played.BalanceAsync("x"));
        Assert.Equal([RecordKind.Commit], await world.KindsAsync(from));
    }

    [Fact]
    public async Task Host_of_the_written_object_alone_applies_the_write_at_once()
    {
        await using var world = new DecisionWorld();
        var writer = world.NewRuntime();
        var first = await writer.OpenAsync<Accounts>("first", OpenMode.Create);
        var remote = await writer.OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        var second = await world.NewRuntime(DecisionWorld.Playing).OpenAsync<Accounts>("second");
        await using var tx = writer.BeginTx(new TransactionOptions { AwaitApplied = true });
        await remote.SetAsync("x", await first.BalanceAsync("x") + 7);
        Assert.True((await tx.EndTxAsync()).IsCommitted);
        await writer.DisposeAsync();
        Assert.Equal(7, await second.BalanceAsync("x"));
    }

    [Fact]
    public async Task Refused_transaction_aborts_with_the_write_and_leaves_no_record()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync();
        var (_, rival, _) = await world.OpenAsync();
        var from = await world.TailAsync();
        var tx = await runtime.BeginTransferAsync(first, "x");
        await rival.SetAsync("x", 3);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
        Assert.Equal((AbortReason.Conflict, false, from),
            (aborted.Reason, aborted.Key.IsNone, aborted.ConflictingWrite.Position));
        Assert.Equal(from.Next, await world.TailAsync());
    }

    /// <summary>R24: an update tells its key, so that it refuses no transaction that read another one.</summary>
    [Fact]
    public async Task Write_of_another_key_refuses_no_transaction()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, second) = await world.OpenAsync();
        var (_, rival, _) = await world.OpenAsync();
        var tx = await runtime.BeginTransferAsync(first, "x");
        var from = await world.TailAsync();
        world.BeforeAppend = async () => await rival.SetAsync("y", 3);
        Assert.True((await tx.EndTxAsync()).IsCommitted);
        Assert.Equal(from + 2, await world.TailAsync());

        // The write comes between the comparison and the grant.
        tx = await runtime.BeginTransferAsync(second, "x");
        world.BeforeAppend = async () => await rival.AddAsync("x", 3);
        Assert.True((await tx.EndTxAsync()).IsCommitted);
        tx = await runtime.BeginTransferAsync(first, "x");
        world.BeforeAppend = async () => await rival.AddAsync("x", 3);
        Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
    }

    /// <summary>R30: the rival's entry never came.</summary>
    [Fact]
    public async Task Refusal_by_an_unwritten_grant_aborts_no_transaction()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync();
        var (_, rival, _) = await world.OpenAsync(DecisionWorld.Asking with { MaxResolveAttempts = 0 });
        var tx = await runtime.BeginTransferAsync(first, "x");
        world.BeforeAppend = async () =>
        {
            world.Faults.Enqueue(AppendFault.LostAndUnknown);
            await Assert.ThrowsAsync<TangoInDoubtException>(async () => await rival.SetAsync("x", 9));
        };
        Assert.True((await tx.EndTxAsync()).IsCommitted);
        Assert.Equal(1, await first.BalanceAsync("x"));
    }

    /// <summary>R28: a filler took the position, and the ruling went with it. The own grant refuses the next
    /// ask.</summary>
    [Fact]
    public async Task Lost_position_is_asked_for_anew()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync();
        var from = await world.TailAsync();
        var tx = await runtime.BeginTransferAsync(first, "x");
        world.Faults.Enqueue(AppendFault.LeaveHole);
        var committed = Assert.IsType<TxOutcome.Committed>(await tx.EndTxAsync());
        Assert.Equal(from + 1, committed.Version.Position);
        Assert.Equal([CommitFlags.Decided], await world.CommitsAsync(from));
        Assert.Equal(1, await first.BalanceAsync("x"));
    }

    [Fact]
    public async Task Third_refusal_leaves_the_decision_to_playback()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync();
        var from = await world.TailAsync();
        var tx = await runtime.BeginTransferAsync(first, "x");
        for (var i = 0; i < 3; i++) world.Faults.Enqueue(AppendFault.LeaveHole);
        Assert.True((await tx.EndTxAsync()).IsCommitted);
        Assert.Equal([CommitFlags.None], await world.CommitsAsync(from));
        Assert.Equal(from + 4, await world.TailAsync());
    }

    [Fact]
    public async Task Log_without_decisions_is_asked_once()
    {
        await using var world = new DecisionWorld(decides: false);
        var (runtime, first, second) = await world.OpenAsync();
        var from = await world.TailAsync();
        Assert.True((await runtime.TransferAsync(first, "x", 1)).IsCommitted);
        Assert.True((await runtime.TransferAsync(second, "x", 1)).IsCommitted);
        await using var tx = runtime.BeginTx();
        await second.SetAsync("x", await first.BalanceAsync("x"));
        Assert.True((await tx.EndTxAsync()).IsCommitted);
        Assert.Equal([CommitFlags.None, CommitFlags.None, CommitFlags.NeedsDecision], await world.CommitsAsync(from));
    }

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown, true)]
    [InlineData(AppendFault.LostAndUnknown, false)]
    public async Task Unknown_append_is_resolved_by_the_place_alone(AppendFault fault, bool isIn)
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync(DecisionWorld.Asking with { MaxResolveAttempts = 0 });
        var tx = await runtime.BeginTransferAsync(first, "x");
        world.Faults.Enqueue(fault);
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await tx.EndTxAsync());
        var outcome = await runtime.ResolveAsync(inDoubt);
        if (isIn) Assert.Equal(inDoubt.Position, Assert.IsType<TxOutcome.Committed>(outcome).Version.Position);
        else Assert.Equal(AbortReason.NotWritten, Assert.IsType<TxOutcome.Aborted>(outcome).Reason);
        Assert.Equal(isIn ? 1 : 0, await first.BalanceAsync("x"));
    }

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown)]
    [InlineData(AppendFault.LostAndUnknown)]
    public async Task Unknown_append_that_is_looked_up_takes_effect_once(AppendFault fault)
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync();
        for (var i = 1; i <= 8; i++)
        {
            if (i % 2 == 0) world.Faults.Enqueue(fault);
            Assert.True((await runtime.TransferAsync(first, "x", 1)).IsCommitted);
            Assert.Equal(i, await first.BalanceAsync("x"));
        }
    }

    [Fact]
    public async Task Waiting_caller_finds_the_writes_played()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync();
        await using var tx = runtime.BeginTx(new TransactionOptions { AwaitApplied = true });
        await first.SetAsync("x", await first.BalanceAsync("x") + 1);
        var committed = Assert.IsType<TxOutcome.Committed>(await tx.EndTxAsync());
        Assert.True(runtime.Log.PlayedTo > committed.Version.Position);
    }

    /// <summary>R23: a log of the level before. Code of that level plays all that comes into it.</summary>
    [Fact]
    public async Task Log_of_a_lower_level_is_served_and_not_asked()
    {
        await using var world = new DecisionWorld();
        var (older, old, oldSecond) = await world.OpenAsync(
            DecisionWorld.Playing with { NewestLevel = FeatureLevel.KeyLists });
        Assert.True((await older.TransferAsync(old, "x", 1)).IsCommitted);
        var (runtime, first, second) = await world.OpenAsync();
        var from = await world.TailAsync();
        Assert.True((await runtime.TransferAsync(first, "x", 1)).IsCommitted);
        var crossing = await HeldTransaction.BeginAsync(
            runtime, async () => await second.SetAsync("x", await first.BalanceAsync("x") + 5));
        Assert.True((await crossing.EndTxAsync()).IsCommitted);
        await first.SetAsync("y", 3);
        Assert.Equal((2, 7, 3),
            (await old.BalanceAsync("x"), await oldSecond.BalanceAsync("x"), await old.BalanceAsync("y")));
        Assert.True((await older.TransferAsync(old, "x", 1)).IsCommitted);
        Assert.Equal(3, await first.BalanceAsync("x"));
        Assert.Equal([CommitFlags.None, CommitFlags.NeedsDecision, CommitFlags.None], await world.CommitsAsync(from));
        Assert.Equal(FeatureLevel.KeyLists, await runtime.Log.ReadLevelAsync());

        from = await world.TailAsync();
        await runtime.Log.RaiseLevelAsync(FeatureLevel.Decisions);
        Assert.True((await runtime.TransferAsync(first, "x", 1)).IsCommitted);
        Assert.Equal([CommitFlags.Decided], await world.CommitsAsync(from));
        await Assert.ThrowsAsync<TangoLevelException>(async () => await older.Log.ReadLevelAsync());
    }

    /// <summary>R25: of two in one entry the first is granted, and refuses the other.</summary>
    [Fact]
    public async Task Refused_record_leaves_the_entry_without_the_rest()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, second) = await world.OpenAsync();
        var one = await runtime.BeginTransferAsync(first, "x");
        var two = await runtime.BeginTransferAsync(first, "x");
        var other = await runtime.BeginTransferAsync(second, "x");
        List<Task<TxOutcome>> ends = [];
        var update = Task.CompletedTask;
        world.BeforeAppend = () =>
        {
            // The next entry gathers while this one is under way.
            ends = [one.EndTxAsync(), two.EndTxAsync(), other.EndTxAsync()];
            update = second.SetAsync("y", 4).AsTask();
            return Task.CompletedTask;
        };
        await first.SetAsync("z", 1);
        var outcomes = await Task.WhenAll(ends);
        await update;
        Assert.True(outcomes[2].IsCommitted);
        var granted = Assert.Single(outcomes[..2].OfType<TxOutcome.Committed>());
        Assert.Equal(granted.Version, Assert.Single(outcomes.OfType<TxOutcome.Aborted>()).ConflictingWrite);
        Assert.Equal((1, 1, 4), (await first.BalanceAsync("x"), await second.BalanceAsync("x"),
            await second.BalanceAsync("y")));
    }

    /// <summary>R32: the entry of the deletion does not stand in the stream of a member that came
    /// meanwhile.</summary>
    [Fact]
    public async Task Read_of_a_member_added_during_the_deletion_of_the_group_is_refused()
    {
        await using var world = new DecisionWorld();
        var older = await Group.OpenAsync(world.NewRuntime(), isNewer: false);
        var runtime = world.NewRuntime();
        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);
        HeldTransaction? tx = null;
        world.BeforeAppend = async () =>
        {
            var newer = await Group.OpenAsync(runtime, isNewer: true);
            await newer.Late!.SetAsync("x", 1);
            tx = await HeldTransaction.BeginAsync(
                runtime, async () => await other.SetAsync("x", await newer.Late.BalanceAsync("x")));
        };
        await older.Runtime.Directory.DeleteGroupAsync("group");
        var from = await world.TailAsync();
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await tx!.EndTxAsync());
        Assert.Equal(from, await world.TailAsync());
        Assert.Equal(0, await other.BalanceAsync("x"));
    }

    /// <summary>R29: a replica that has forgotten the versions applies it all the same.</summary>
    [Fact]
    public async Task Replica_without_the_versions_applies_the_decided_record()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, second) = await world.OpenAsync(
            DecisionWorld.Asking with { NewObjectVersionCapacity = 1 });
        var (_, rival, played) = await world.OpenAsync(DecisionWorld.Playing);
        var tx = await HeldTransaction.BeginAsync(
            runtime, async () => await second.SetAsync("x", await first.BalanceAsync("a") + 1));
        // Both lie above the tail that was compared, and below the record: the mark rises above the snapshot.
        world.BeforeAppend = async () =>
        {
            await rival.SetAsync("b", 1);
            await rival.SetAsync("c", 1);
        };
        var from = await world.TailAsync();
        Assert.True((await tx.EndTxAsync()).IsCommitted);
        Assert.Equal([CommitFlags.Decided], await world.CommitsAsync(from));
        Assert.Equal(1, await second.BalanceAsync("x"));
        Assert.Equal(1, await played.BalanceAsync("x"));
    }
}
