using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>The members that strong reads ask (C6).</summary>
public sealed class RoundTests
{
    // No answer by the log's word.
    private static readonly CraqNodeOptions s_members = new() { LoggedAfter = TimeSpan.FromSeconds(60) };

    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, 3)]
    [InlineData(3, 1)]
    public void Clean_read_asks_the_fewest_members_that_suffice(int reader, int asked) => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await CleanAsync(chain, 3);
        Assert.Equal("v", await chain.GetAsync(reader, "x"));
        Assert.Equal([Samples.Id(asked)], Questions(chain).Select(question => question.To));
    });

    [Fact]
    public void Clean_read_asks_members_of_the_own_datacenter_first() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await CleanAsync(chain, 3);
        Assert.Equal("v", await chain.GetAsync(1, "x"));
        Assert.Equal([Samples.Id(3)], Questions(chain).Select(question => question.To));
    }, datacenters: "aba");

    [Fact]
    public void Read_of_a_dirty_object_asks_the_tail() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(3).Counter == 3);
        Assert.Equal("old", await chain.GetAsync(1, "x"));
        Assert.Equal([Samples.Id(3)], Questions(chain).Select(question => question.To).Distinct());
        chain.Store(3).GoOn();
        await write;
    });

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Read_asks_the_other_members_where_the_first_one_is_silent(bool isCut) => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await CleanAsync(chain, 3);
        var silent = new TaskCompletionSource();
        if (isCut) chain.Network.Cut(Samples.Id(2), Samples.Id(3));
        else
        {
            chain.Network.Holds = (_, to, request) =>
                to == Samples.Id(3) && request is ConfirmRequest ? silent.Task : Task.CompletedTask;
        }

        Assert.Equal("v", await chain.GetAsync(2, "x"));
        Assert.Equal(Samples.Ids(3, 1), Questions(chain).Select(question => question.To));
        // The next round does not count on the silent member.
        Assert.Equal("v", await chain.GetAsync(2, "x"));
        Assert.Equal(Samples.Id(1), Questions(chain)[2].To);
        silent.TrySetResult();
    }, node: s_members);

    [Fact]
    public void Dirty_read_goes_on_when_the_mark_comes_up_the_chain() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        chain.Network.Cut(Samples.Id(1), Samples.Id(3));
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(3).Counter == 3);
        var read = chain.GetAsync(1, "x");
        await chain.DelayAsync(100);
        Assert.False(read.IsCompleted);
        chain.Store(3).GoOn();
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal("new", await read);
    }, node: s_members);

    [Fact]
    public void Stuck_dirty_reads_hold_no_clean_read_up() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        await chain.PutAsync("y", "v");
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(3).Counter == 4);
        // The tail's process stands still.
        var silent = new TaskCompletionSource();
        chain.Network.Holds = (_, to, _) => to == Samples.Id(3) ? silent.Task : Task.CompletedTask;
        List<Task<ReadObjectsResponse>> dirty = [];
        for (var i = 0; i < 4 * Reads.ReadRounds.MaxRunning; i++)
        {
            dirty.Add(chain.ReadAsync(1, "x"));
            await chain.DelayAsync(5);
        }

        Assert.Equal("v", await chain.GetAsync(1, "y"));
        Assert.All(dirty, read => Assert.False(read.IsCompleted));
        silent.SetResult();
        chain.Store(3).GoOn();
        await write;
        Assert.All(await Task.WhenAll(dirty), read => Assert.Equal(Status.Ok, read.Status));
    }, node: s_members);

    // The mark has come to all members, and the questions so far are forgotten.
    private static async Task CleanAsync(TestChain chain, int members)
    {
        await chain.UntilAsync(
            () => Enumerable.Range(1, members).All(node => chain.MarkOf(node) == chain.LastOf(node)));
        chain.Network.Sent.Clear();
    }

    private static List<(NodeId From, NodeId To, Request Request)> Questions(TestChain chain) =>
        [.. chain.Network.Sent.Where(sent => sent.Request is ConfirmRequest)];
}
