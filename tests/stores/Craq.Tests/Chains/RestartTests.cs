using Craq.Chains;
using Craq.Coordination;
using Craq.Storage;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>Nodes that start anew, also with a chain's state in their log as the cleaner and checkpoints leave
/// it.</summary>
public sealed class RestartTests
{
    /// <summary>Records of the least version on stand before the state; the newest one is gone.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void Restart_with_a_chain_state_keeps_objects_of_records_before_the_state(int least) =>
        TestChain.Run(async chain =>
        {
            await chain.PutAsync("w", "v1");
            var kept = await chain.PutAsync("x", "v2");
            var newest = await chain.PutAsync("y", "v3");
            await chain.UntilAsync(() => chain.MarkOf(2) == newest);
            Assert.Equal(3, kept.Counter);
            var state = chain.StateOf(2);
            // Marks are gone too: the state alone says that the records are committed.
            await chain.RestartAsync(2, log => log
                .Where(record => record.Kind == StoreRecordKind.Install || (record.Kind == StoreRecordKind.Chain
                    && record.Version.Counter >= least && record.Version < newest))
                .Append(state));
            Assert.Equal("v2", await chain.GetAsync(2, "x", ObjectReadMode.Eventual));
            Assert.Equal(least == 1 ? "v1" : null, await chain.GetAsync(2, "w", ObjectReadMode.Eventual));
            Assert.Equal(newest, chain.LastOf(2));
        });

    /// <summary>C9: node 3 becomes the head, and lacks a record that nodes 1 and 2 have.</summary>
    [Fact]
    public void Head_restarted_from_the_chain_state_collects_before_the_epoch_begins() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Network.Cut(Samples.Id(3), Samples.Id(1));
        chain.Network.Cut(Samples.Id(3), Samples.Id(2));
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(2) == chain.LastOf(1) && chain.LastOf(2) > chain.LastOf(3));
        var config = chain.Change(new ChainChange.Reorder(Samples.Ids(3, 1, 2)));
        await chain.UntilAsync(() => chain.EpochOf(3) == config.Epoch);
        var state = chain.StateOf(3);
        await chain.RestartAsync(3, _ => [state]);
        chain.Network.Heal();
        await chain.UntilAsync(() => write.IsCompleted);
        Assert.Equal(Status.Ok, (await write).Status);
        await chain.OpenedAsync();
        Assert.Equal("new", await chain.GetAsync(3, "x"));
    });

    /// <summary>C19: a member's disk is lost before the first epoch is recorded open. It holds no record of the chain,
    /// as a member that is new, and the others say that it had some.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Emptied_member_of_an_open_epoch_serves_no_reads(int emptied) => TestChain.Run(async chain =>
    {
        var unrecorded = ChainId.FromName("unrecorded");
        for (var node = 1; node <= 3; node++)
            chain.Access(node).Opening = static () => new TaskCompletionSource().Task;
        chain.Directory.Create(unrecorded, Placement.Implicit(1, 3), ChainOptions.Default, 1, 2, 3);
        var request = chain.Mutation(TestChain.Put("x", "v")) with { Chain = unrecorded, Epoch = Epoch.First };
        await chain.UntilAsync(() => IsOpen(chain, 1, unrecorded));
        var written = await chain.CallAsync(1, request);
        Assert.Equal(Status.Ok, written.Status);
        await chain.UntilAsync(() => Enumerable.Range(1, 3).All(node => IsOpen(chain, node, unrecorded)));
        await chain.RestartAsync(emptied, static _ => []);
        foreach (var mode in Enum.GetValues<ObjectReadMode>())
        {
            var read = await chain.CallAsync(emptied, new ReadObjectsRequest(
                Epoch.First, unrecorded, mode, ["x"], default, 0, 0));
            Assert.False(read.IsOk);
        }

        // A member that hears nothing of its chain does not know yet.
        var unknown = chain.CallAsync(1,
            chain.Mutation(TestChain.Put("y", "v")) with { Chain = unrecorded, Epoch = Epoch.First });
        await chain.UntilAsync(() => IsOutside(chain, emptied, unrecorded));
        Assert.False((await unknown).IsOk);
        chain.Directory.Change(unrecorded, new ChainChange.Remove(Samples.Ids(emptied)));
        var (next, survivor) = (new Epoch(2), emptied == 1 ? 2 : 1);
        await chain.UntilAsync(() => IsOpen(chain, survivor, unrecorded));
        var kept = await chain.CallAsync(survivor, new ReadObjectsRequest(
            next, unrecorded, ObjectReadMode.Strong, ["x"], default, 0, 0));
        Assert.Equal(Status.Ok, kept.Status);
        Assert.Equal(written.Version, kept.Objects[0].Version);
    });

    /// <summary>C19: the view that a member tells others says that the epoch has opened: an emptied member that
    /// installs it is no new one.</summary>
    [Fact]
    public void Members_of_an_open_epoch_tell_of_the_opening() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        for (var node = 1; node <= 3; node++)
        {
            ChainView? told = null;
            chain.Node(node).WithChain(chain.Id, (core, _) => told = core.View);
            Assert.False(told!.Config.IsUnopened);
        }
    });

    private static bool IsOpen(TestChain chain, int node, ChainId id)
    {
        var isOpen = false;
        var newest = chain.Directory[id].Config.Epoch;
        chain.Node(node).WithChain(id, (core, _) => isOpen = core.IsOpen && core.Epoch == newest);
        return isOpen;
    }

    private static bool IsOutside(TestChain chain, int node, ChainId id)
    {
        var isOutside = false;
        chain.Node(node).WithChain(id, (core, _) => isOutside = core.Standing == ChainStanding.Outside);
        return isOutside;
    }

    /// <summary>C17: the clock of the earlier run says nothing in this run.</summary>
    [Fact]
    public void Dirty_record_of_an_earlier_run_is_too_old_for_a_bounded_read() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        await chain.DelayAsync(500);
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(2) == chain.LastOf(1) && chain.LastOf(2) > chain.MarkOf(2));
        await chain.DelayAsync(50);
        var fresh = await chain.ReadAsync(2, "x", ObjectReadMode.Bounded, ahead: 1, age: 60_000);
        Assert.Equal("new", TestChain.ValueOf(fresh));
        await chain.KillAsync(2);
        await chain.StartAsync(2);
        Assert.Equal(chain.LastOf(1), chain.LastOf(2));
        var read = await chain.ReadAsync(2, "x", ObjectReadMode.Bounded, ahead: 1, age: 60_000);
        Assert.Equal(Status.Ok, read.Status);
        Assert.Equal("old", TestChain.ValueOf(read));
        chain.Store(3).GoOn();
        await chain.UntilAsync(() => write.IsCompleted);
        Assert.Equal(Status.Ok, (await write).Status);
    });
}
