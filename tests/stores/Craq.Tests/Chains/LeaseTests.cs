using Craq.Coordination;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>Reads by lease (C7). <see cref="CraqDirectoryTests"/> has the leases themselves.</summary>
public sealed class LeaseTests
{
    private static readonly ChainOptions s_leased = ChainOptions.Default with { Reads = EpochProof.Leased };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Member_with_a_lease_answers_clean_reads_alone(int reader) => TestChain.Run(async chain =>
    {
        Lease(chain, 3);
        await chain.PutAsync("x", "v");
        await chain.UntilAsync(() => chain.MarkOf(reader) == chain.LastOf(reader));
        // No other member, and no log.
        foreach (var other in new[] { 1, 2, 3 }.Where(other => other != reader))
            chain.Network.Cut(Samples.Id(reader), Samples.Id(other));
        chain.Access(reader).IsCut = true;
        chain.Network.Sent.Clear();
        var read = await chain.ReadAsync(reader, "x");
        Assert.Equal((Status.Ok, "v", 0), (read.Status, TestChain.ValueOf(read), read.Age));
        Assert.DoesNotContain(chain.Network.Sent, sent => sent.Request is ConfirmRequest);
        Assert.Equal(Status.Ok, (await chain.ReadAsync(reader, "x", ObjectReadMode.Bounded, age: 1)).Status);
        chain.Access(reader).Lease = null;
        Assert.Equal(CraqStatus.Unconfirmed, (await chain.ReadAsync(reader, "x")).Status);
    }, options: s_leased);

    [Fact]
    public void Member_with_a_lease_asks_the_tail_alone_about_a_dirty_object() => TestChain.Run(async chain =>
    {
        Lease(chain, 5);
        await chain.PutAsync("x", "old");
        await chain.PutAsync("y", "v");
        chain.Store(5).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(5).Counter == 4);
        chain.Network.Sent.Clear();
        Assert.Equal("old", await chain.GetAsync(2, "x"));
        Assert.Equal([Samples.Id(5)], chain.Network.Sent.Where(sent => sent.Request is ConfirmRequest)
            .Select(sent => sent.To));
        // Another object is dirty.
        chain.Network.Sent.Clear();
        Assert.Equal("v", await chain.GetAsync(2, "y"));
        Assert.DoesNotContain(chain.Network.Sent, sent => sent.Request is ConfirmRequest);
        chain.Store(5).GoOn();
        await write;
    }, members: 5, options: s_leased);

    [Fact]
    public void Lease_proves_no_read_of_a_chain_that_is_not_leased() => TestChain.Run(async chain =>
    {
        Lease(chain, 3);
        await chain.PutAsync("x", "v");
        chain.Network.Sent.Clear();
        Assert.Equal("v", await chain.GetAsync(2, "x"));
        Assert.Contains(chain.Network.Sent, sent => sent.Request is ConfirmRequest);
    });

    /// <summary>The prevented execution: X is removed and registers again; the new lease says nothing about the epoch
    /// that X has installed.</summary>
    [Fact]
    public void Removed_member_with_a_new_lease_is_confirmed_by_none() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        var old = chain.Config.Epoch;
        Cut(chain, 3);
        chain.Access(3).IsCut = true;
        chain.Directory.SetState(3, DirectoryNodeState.Gone);
        chain.Change(Samples.Remove(3));
        await chain.OpenedAsync();
        await chain.PutAsync("x", "new");
        chain.Directory.SetState(3, DirectoryNodeState.Active);
        // The new lease is for a state of the directory with the removal: it proves the newest epoch alone.
        chain.Access(3).Lease = config => config.Epoch == chain.Config.Epoch;
        var read = await chain.CallAsync(3, new ReadObjectsRequest(old, chain.Id, ObjectReadMode.Strong, ["x"]));
        Assert.Equal(CraqStatus.Unconfirmed, read.Status);
        Assert.Equal("new", await chain.GetAsync(1, "x"));
    }, options: s_leased);

    [Fact]
    public void Refusal_of_a_head_with_a_lease_asks_no_member() => TestChain.Run(async chain =>
    {
        Lease(chain, 3);
        await chain.PutAsync("x", "v");
        chain.Network.Sent.Clear();
        var refused = await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")) with
        {
            Compares = [new ObjectCompare("x", ObjectCompareKind.Absent, default, default)],
        });
        Assert.Equal(CraqStatus.Mismatch, refused.Status);
        Assert.DoesNotContain(chain.Network.Sent, sent => sent.Request is ConfirmRequest);
    }, options: s_leased);

    private static void Lease(TestChain chain, int nodes)
    {
        for (var i = 1; i <= nodes; i++) chain.Access(i).Lease = config => config.Epoch == chain.Config.Epoch;
    }

    private static void Cut(TestChain chain, int node)
    {
        foreach (var member in chain.Config.Members.Where(member => member.Node != Samples.Id(node)))
            chain.Network.Cut(Samples.Id(node), member.Node);
    }
}
