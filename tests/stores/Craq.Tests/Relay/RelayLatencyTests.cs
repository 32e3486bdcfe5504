using Craq.Tests.Chains;
using Craq.Tests.Coordination;

namespace Craq.Tests.Relay;

/// <summary>Fig. 9: the latency of a write by chain length, with values down the chain and relayed, in virtual time. A
/// node sends 125 KB in a millisecond, one message after the other; a message takes 1 ms more, and so does a
/// sync.</summary>
public sealed class RelayLatencyTests
{
    private const int BytesPerMillisecond = 125_000;

    private static readonly string s_value = new('v', 8 * BytesPerMillisecond);

    [Theory]
    [InlineData(3, ValuePath.Chain, 25)]
    [InlineData(3, ValuePath.Relay, 23)]
    [InlineData(6, ValuePath.Chain, 58)]
    [InlineData(6, ValuePath.Relay, 36)]
    public void Write_of_a_large_value_waits_for_the_network_once_where_values_are_relayed(
        int members, ValuePath values, int milliseconds) => TestChain.Run(async chain =>
        {
            chain.Network.Holds = Uplinks(chain);
            Assert.Equal(milliseconds, await WriteAsync(chain));
            Assert.Equal(0, chain.Network.Sent.Count(sent => sent.Request is FetchRequest));
        }, members, options: new ChainOptions { Values = values });

    /// <summary>Messages between datacenters take 40 ms. A lost mark leaves the answers of the chain.</summary>
    [Theory]
    [InlineData(true, 128)]
    [InlineData(false, 169)]
    public void Mark_of_a_far_tail_reaches_the_head_by_the_shortest_way(bool areTold, int milliseconds) =>
        TestChain.Run(async chain =>
        {
            chain.Network.Holds = chain.Network.HoldsAnswer = (from, _, _) => from == TestChain.Client
                ? Task.CompletedTask
                : Task.Delay(TimeSpan.FromMilliseconds(40), chain.Time);
            chain.Network.Drops = (_, _, request) => request is MarkedRequest && !areTold;
            Assert.Equal(milliseconds, await WriteAsync(chain));
        }, members: 3, datacenters: "abc");

    // The second write: the first one finds the members as they begin.
    private static async Task<int> WriteAsync(TestChain chain)
    {
        await chain.PutAsync("x", "small");
        await chain.DelayAsync(500);
        var began = chain.Time.GetTimestamp();
        await chain.PutAsync("x", s_value);
        return (int)chain.Time.GetElapsedTime(began).TotalMilliseconds;
    }

    private static Func<NodeId, NodeId, Request, Task> Uplinks(TestChain chain)
    {
        var free = new Dictionary<NodeId, TimeSpan>();
        return (from, _, request) =>
        {
            var bytes = request switch
            {
                ReplicateRequest replicate => replicate.Records.Sum(record => record.Length),
                ValuesRequest relayed => relayed.Record.Length,
                _ => 0,
            };
            var now = chain.Time.GetElapsedTime(0);
            var begins = free.GetValueOrDefault(from) is var busy && busy > now ? busy : now;
            free[from] = begins + TimeSpan.FromMilliseconds((double)bytes / BytesPerMillisecond);
            return Task.Delay(free[from] - now, chain.Time);
        };
    }
}
