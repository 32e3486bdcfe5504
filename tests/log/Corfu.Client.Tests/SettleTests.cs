using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

/// <summary>R9: appends with a bound whose answers were lost are settled by their origins.</summary>
public class SettleTests
{
    private static readonly EntryOrigin Foreign = new(new WriterId(new Guid(7, 0, 0, new byte[8])), 7);

    /// <summary>Simulator seed 40441. The units know the tail of what is written, which may lie below a tail that the
    /// sequencer answered before it fell silent.</summary>
    [Fact]
    public async Task Settling_from_a_granted_tail_above_the_tail_of_the_units_finds_the_outcome()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await client.AppendAsync("a"u8.ToArray(), []);
        await cluster.Transport.CallAsync(
            cluster.First.Sequencer, new TokenRequest(cluster.First.Epoch, 3, []), default);
        var from = (await client.CheckAsync([])).Tail;

        var silent = true;
        cluster.Transport.Faults = (_, request) =>
        {
            if (request is TokenRequest) Volatile.Write(ref silent, false);
            return new(Volatile.Read(ref silent) && request is TailRequest ? Fault.Refused : Fault.None);
        };
        Assert.True((await client.CheckAsync([])).Tail < from);

        var settled = await client.SettleAsync([Foreign], from, from + 1, default);
        Assert.Equal(AppendOutcome.NotAppended, Assert.Single(settled).Outcome);
    }
}
