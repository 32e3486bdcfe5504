using Craq.Coordination;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>More requests than a node can serve: its memory stays within its bounds, and comes back.</summary>
public sealed class FloodTests
{
    /// <summary>C13: a refusal that is forgotten raises the least mark of requests that may be applied.</summary>
    [Fact]
    public void Refusals_leave_the_window_where_the_bytes_are_used_up() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var first = Mismatch(chain);
        Assert.Equal(CraqStatus.Mismatch, (await chain.MutateAsync(first)).Status);
        Assert.Equal(CraqStatus.Mismatch, (await chain.MutateAsync(first)).Status);
        for (var i = 0; i < 100; i++) await chain.MutateAsync(Mismatch(chain));
        Assert.Equal(CraqStatus.Forgotten, (await chain.MutateAsync(first)).Status);
        await chain.PutWithMarkAsync("y", "w", chain.LastOf(1));
    }, node: new CraqNodeOptions { MaxWindowBytes = 10_000 });

    /// <summary>The bytes of refusals are those of an epoch: in the next one other chains have them again.</summary>
    [Fact]
    public void Refusals_give_the_bytes_back_at_the_end_of_the_epoch() => TestChain.Run(async chain =>
    {
        for (var i = 0; i < 100; i++) await chain.MutateAsync(Mismatch(chain));
        chain.Change(new ChainChange.Reorder([.. new[] { 1, 3, 2 }.Select(Samples.Id)]));
        await chain.OpenedAsync();
        // 70 ids need more than half of the bytes: with those of refusals the first one would have left.
        var first = chain.Mutation(TestChain.Put("x", "0"));
        var version = (await chain.MutateAsync(first)).Version;
        for (var i = 1; i < 70; i++) await chain.PutWithMarkAsync("x", $"{i}", chain.LastOf(1));
        var again = await chain.MutateAsync(first);
        Assert.Equal((Status.Ok, version), (again.Status, again.Version));
    }, node: new CraqNodeOptions { MaxWindowBytes = 10_000 });

    [Fact]
    public void Reads_at_a_lone_member_end_and_give_the_places_back() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Access(2).IsCut = true;
        chain.Network.Cut(Samples.Id(2), Samples.Id(1));
        chain.Network.Cut(Samples.Id(2), Samples.Id(3));
        for (var flood = 0; flood < 3; flood++)
        {
            Task<ReadObjectsResponse>[] reads = [.. Enumerable.Range(0, 500).Select(_ => chain.ReadAsync(2, "x"))];
            await chain.UntilAsync(() => reads.All(read => read.IsCompleted));
            var answers = await Task.WhenAll(reads);
            Assert.Equal(300, answers.Count(answer => answer.Status == CraqStatus.Unconfirmed));
            Assert.Equal(200, answers.Count(answer => answer.Status == Status.Overloaded));
        }

        chain.Network.Heal();
        Assert.Equal("v", await chain.GetAsync(2, "x"));
    }, node: new CraqNodeOptions { MaxWaiting = 300 });

    private static MutateRequest Mismatch(TestChain chain) => chain.Mutation(TestChain.Put("y", "v")) with
    {
        Compares = [new ObjectCompare("absent", ObjectCompareKind.Exists, default, default)],
    };
}
