using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>Fig. 13: reads of a chain over two datacenters, 80 ms apart, in virtual time. Nodes 1 and 2 and the client
/// are in one, the tail is in the other. A message within a datacenter takes 1 ms.</summary>
public sealed class DistanceTests
{
    private const int Local = 2;
    private const int Remote = 80 + Local;

    private static readonly ChainOptions s_leased = ChainOptions.Default with { Reads = EpochProof.Leased };

    [Fact]
    public void Clean_leased_read_is_answered_by_the_nearest_member_alone() => Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await CleanAsync(chain);
        Assert.Equal(("v", Local), await ReadAsync(chain, 1, ObjectReadMode.Strong));
    }, s_leased);

    [Fact]
    public void Clean_confirmed_read_asks_a_near_member() => Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await CleanAsync(chain);
        Assert.Equal(("v", 2 * Local), await ReadAsync(chain, 1, ObjectReadMode.Strong));
    }, ChainOptions.Default);

    [Fact]
    public void Dirty_read_costs_a_question_to_the_far_tail() => Run(async chain =>
    {
        var write = await WriteHeldAsync(chain);
        Assert.Equal(("old", Local + Remote), await ReadAsync(chain, 1, ObjectReadMode.Strong));
        chain.Store(3).GoOn();
        await write;
    }, s_leased);

    [Fact]
    public void Weaker_reads_of_a_dirty_object_stay_local() => Run(async chain =>
    {
        var write = await WriteHeldAsync(chain);
        Assert.Equal(("old", Local), await ReadAsync(chain, 1, ObjectReadMode.Session));
        Assert.Equal(("old", Local), await ReadAsync(chain, 1, ObjectReadMode.Bounded));
        Assert.Equal(("new", Local), await ReadAsync(chain, 1, ObjectReadMode.Eventual));
        chain.Store(3).GoOn();
        await write;
    }, s_leased);

    [Fact]
    public void Read_of_plain_chain_replication_crosses_to_the_tail() => Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await CleanAsync(chain);
        Assert.Equal(("v", Remote), await ReadAsync(chain, 3, ObjectReadMode.Strong));
    }, s_leased with { Protocol = ChainProtocol.Cr });

    private static void Run(Func<TestChain, Task> body, ChainOptions options) => TestChain.Run(async chain =>
    {
        for (var node = 1; node <= 3; node++) chain.Access(node).Lease = static _ => true;
        chain.Network.Holds = (from, to, _) => from == Samples.Id(3) == (to == Samples.Id(3))
            ? Task.CompletedTask
            : Task.Delay(TimeSpan.FromMilliseconds(Remote - Local), chain.Time);
        await body(chain);
    }, options: options, datacenters: "eew");

    private static Task CleanAsync(TestChain chain) =>
        chain.UntilAsync(() => Enumerable.Range(1, 3).All(node => chain.MarkOf(node) == chain.LastOf(1)));

    // An object whose newest version the tail has not made durable. The write is under way.
    private static async Task<Task<MutateResponse>> WriteHeldAsync(TestChain chain)
    {
        await chain.PutAsync("x", "old");
        await CleanAsync(chain);
        await ReadAsync(chain, 1, ObjectReadMode.Strong);
        chain.Store(3).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "new")));
        await chain.UntilAsync(() => chain.LastOf(3) == chain.LastOf(1));
        return write;
    }

    private static async Task<(string? Value, int Milliseconds)> ReadAsync(
        TestChain chain, int node, ObjectReadMode mode)
    {
        var began = chain.Time.GetTimestamp();
        var value = TestChain.ValueOf(await chain.ReadAsync(node, "x", mode, age: 10_000));
        return (value, (int)chain.Time.GetElapsedTime(began).TotalMilliseconds);
    }
}
