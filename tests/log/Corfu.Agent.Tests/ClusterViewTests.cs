using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Microsoft.Extensions.Logging.Abstractions;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

public sealed class ClusterViewTests
{
    /// <summary>A wrong number must not end operators' control.</summary>
    [Fact]
    public void No_version_of_automation_is_the_last_one()
    {
        var options = new AgentOptions { Self = new NodeEndpoint("localhost", 1), Automatic = true };
        var view = new ClusterView(options, null!, null!, NullLogger.Instance);
        view.Adopt(new Automation(long.MaxValue, IsOn: false));
        Assert.False(view.Automation.IsOn);
        Assert.InRange(view.Automation.Version, 1, long.MaxValue - 1);
        view.Adopt(new Automation(view.Automation.Version + 1, IsOn: true));
        Assert.True(view.Automation.IsOn);
    }

    [Fact]
    public async Task R14_epoch_that_renews_a_sealed_one_brings_no_membership()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var view = new ClusterView(new AgentOptions { Self = default }, null!, null!, NullLogger.Instance);
        view.Adopt(cluster.First);
        var client = cluster.Client();
        var renewed = await client.Cluster.ReconfigureAsync(static p => p.Epoch > Epoch.First ? null
            : Membership.Of(p), "a seal without a successor");
        view.Adopt(renewed);
        Assert.Equal(new Epoch(2), view.Epoch);
        Assert.Equal(Epoch.First, view.MembersSince);

        view.Adopt(await OperationsOf(cluster, client).AddUnitsAsync([await cluster.AddUnitAsync()], "capacity"));
        Assert.Equal(new Epoch(3), view.MembersSince);
    }

    [Fact]
    public async Task R12_an_agent_that_was_cut_off_while_every_acceptor_was_replaced_follows_one_that_answers()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var options = new LayoutClientOptions { RoundTimeout = TimeSpan.FromMilliseconds(50), MaxAttempts = 2 };
        var layout = new LayoutClient(cluster.Transport, new SeededEntropy(9), TimeProvider.System, options);
        var view = new ClusterView(new AgentOptions { Self = default }, layout,
            new AgentClock(TimeProvider.System), NullLogger.Instance);
        view.Adopt(cluster.First);
        var added = cluster.AddAcceptor();
        var newest = await OperationsOf(cluster, cluster.Client()).SetAcceptorsAsync([added], "replaced");
        cluster.Transport.Stop(cluster.Acceptors[0].Id);

        await view.RefreshAsync([added], default);
        Assert.Equal(newest.Epoch, view.Epoch);
    }
}
