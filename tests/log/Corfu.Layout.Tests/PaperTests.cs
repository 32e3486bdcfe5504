using Corfu.Client.Layout;
using Corfu.Protocol;

namespace Corfu.Layout.Tests;

public sealed class PaperTests
{
    /// <summary>TOCS 2.5: "multiple clients can initiate reconfiguration simultaneously, but only one of them succeeds
    /// in proposing the new projection".</summary>
    [Fact]
    public async Task Simultaneous_proposals_end_in_one_projection_for_all_clients()
    {
        var network = new TestNetwork(5);
        await network.AddAsync(0, 1, 2);
        var first = await Client().ProposeFirstAsync(Setup.Projection(1));
        var outcomes =
            await Task.WhenAll(Enumerable.Range(0, 10)
                .Select(i => Client().ProposeAsync(first, Setup.Projection(2, $"proposer {i}"))));
        Assert.Single(outcomes.Distinct());
        Assert.Equal(outcomes[0], await Client().ReadLatestAsync(first.Acceptors));

        LayoutClient Client() => new(
            network, SystemEntropy.Instance, TimeProvider.System,
            new LayoutClientOptions { MaxAttempts = 200, FirstBackOff = TimeSpan.FromMilliseconds(1) });
    }

    /// <summary>TOCS 2.5: the consensus uses the storage units in place of Paxos acceptors, so it survives their
    /// restarts with what they have on disk.</summary>
    [Fact]
    public async Task A_decision_survives_the_restart_of_every_acceptor()
    {
        var network = new TestNetwork(6);
        await network.AddAsync(0, 1, 2);
        var client = new LayoutClient(network, SystemEntropy.Instance, TimeProvider.System);
        var second = await client.ProposeAsync(await client.ProposeFirstAsync(Setup.Projection(1)),
            Setup.Projection(2));
        for (var i = 0; i < 3; i++) await network.CrashAsync(i);
        Assert.Equal(second, await client.ReadLatestAsync(Setup.Acceptors(0, 1, 2)));
    }
}
