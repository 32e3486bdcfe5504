using Craq.Storage;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>A chain that the directory has dropped: its members answer no request about it, and forget it.</summary>
public sealed class DropTests
{
    [Fact]
    public void Members_of_a_dropped_chain_refuse_reads_writes_and_confirmations() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        var epoch = chain.Config.Epoch;
        var write = chain.Mutation(TestChain.Put("x", "new"));
        chain.Directory.Drop(chain.Id);
        await chain.DelayAsync(1_000);
        for (var node = 1; node <= 3; node++)
        {
            foreach (var mode in Enum.GetValues<ObjectReadMode>())
            {
                var read = await chain.CallAsync(node, new ReadObjectsRequest(
                    epoch, chain.Id, mode, ["x"], ObjectVersion.None, 1, 60_000));
                Assert.Equal(CraqStatus.NotFound, read.Status);
            }

            var confirmed = await chain.CallAsync(
                node, new ConfirmRequest(epoch, [new ChainEpoch(chain.Id, epoch)]));
            Assert.False(confirmed.Chains[0].IsExact);
            Assert.Equal(CraqStatus.NotFound, (await chain.CallAsync(node, write)).Status);
        }
    });

    /// <summary>A single member that has heard of the drop confirms no epoch: a majority fences the rest.</summary>
    [Fact]
    public void Member_that_has_not_heard_of_the_drop_answers_no_strong_read_by_itself() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        var epoch = chain.Config.Epoch;
        chain.Access(2).IsCut = true;
        chain.Directory.Drop(chain.Id);
        await chain.DelayAsync(1_000);
        var read = await chain.CallAsync(2, new ReadObjectsRequest(
            epoch, chain.Id, ObjectReadMode.Strong, ["x"], ObjectVersion.None, 0, 0));
        Assert.NotEqual(Status.Ok, read.Status);
        chain.Access(2).IsCut = false;
        await chain.DelayAsync(1_000);
        Assert.DoesNotContain(chain.Id, Held(chain, 2));
    });

    [Fact]
    public void Requests_that_wait_end_when_the_chain_is_dropped() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Store(3).IsHeld = true;
        var write = chain.CallAsync(1, chain.Mutation(TestChain.Put("x", "new"))).AsTask();
        await chain.UntilAsync(() => chain.LastOf(2) == chain.LastOf(1) && chain.LastOf(2) > chain.MarkOf(2));
        chain.Directory.Drop(chain.Id);
        await chain.UntilAsync(() => write.IsCompleted);
        // The record may have been committed: the outcome is unknown.
        Assert.Equal(CraqStatus.Unconfirmed, (await write).Status);
        chain.Store(3).GoOn();
        await chain.DelayAsync(200);
        for (var node = 1; node <= 3; node++) Assert.Empty(Held(chain, node));
    });

    [Fact]
    public void Forgotten_chain_stays_forgotten_after_a_restart_without_the_log() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Directory.Drop(chain.Id);
        await chain.UntilAsync(() => Held(chain, 2).Count == 0);
        await chain.DelayAsync(100);
        await chain.KillAsync(2);
        await chain.StartAsync(2);
        Assert.Empty(Held(chain, 2));
        Assert.False(chain.Store(2).TryFind(chain.Id, "x", out var slot) && slot is not null);
    });

    /// <summary>C22: the drop is in the log, so a node that lost power before it had forgotten the chain forgets it
    /// after its start.</summary>
    [Fact]
    public void Node_forgets_the_chain_after_a_power_cut_before_the_record_is_durable() =>
        TestChain.Run(async chain =>
        {
            await chain.PutAsync("x", "old");
            await chain.DelayAsync(500);
            chain.Store(2).IsHeld = true;
            chain.Directory.Drop(chain.Id);
            await chain.UntilAsync(() => Held(chain, 2).Count == 0);
            await chain.KillAsync(2);
            Assert.DoesNotContain(chain.Store(2).Crash().Log, record => record.Kind == StoreRecordKind.Forget);
            await chain.StartAsync(2);
            await chain.UntilAsync(() => Held(chain, 2).Count == 0);
            await chain.DelayAsync(100);
            Assert.Contains(chain.Store(2).Log, record => record.Kind == StoreRecordKind.Forget);
        });

    [Fact]
    public void Chain_is_forgotten_once_a_full_disk_has_room_again() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Store(2).IsFull = true;
        chain.Directory.Drop(chain.Id);
        await chain.DelayAsync(1_000);
        Assert.NotEmpty(Held(chain, 2));
        chain.Store(2).IsFull = false;
        await chain.UntilAsync(() => Held(chain, 2).Count == 0);
    });

    /// <summary>C12: node 2 is restarted and does not reach the log; a node that was removed before the drop tells it
    /// the first epoch again, in which a member without records counts as full.</summary>
    [Fact]
    public void Config_of_an_old_epoch_brings_no_forgotten_chain_back() => TestChain.Run(async chain =>
    {
        var first = chain.Config with { Epoch = Epoch.First, IsUnopened = true, IsRecordedOpen = false };
        await chain.PutAsync("x", "old");
        chain.Directory.Drop(chain.Id);
        await chain.UntilAsync(() => Held(chain, 2).Count == 0);
        await chain.DelayAsync(100);
        await chain.KillAsync(2);
        await chain.StartAsync(2);
        foreach (var view in new[] { chain.Directory.View, Craq.Coordination.DirectoryView.Empty })
        {
            chain.Access(2).View = view;
            var told = await chain.CallAsync(2, new InstallChainRequest(first.Epoch, new ChainView(first,
                [.. first.Members.Select(_ => new NodeEndpoint("127.0.0.1", 1))])));
            Assert.Equal(CraqStatus.NotFound, told.Status);
            Assert.Empty(Held(chain, 2));
        }
    });

    private static IReadOnlyCollection<ChainId> Held(TestChain chain, int node) =>
        ((INodeChains)chain.Node(node)).Held;
}
