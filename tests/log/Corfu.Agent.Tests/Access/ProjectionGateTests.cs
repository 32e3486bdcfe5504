using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Agent.Tests.Access;

/// <summary>Projections that clients bring count only when the agent knows them itself.</summary>
public sealed class ProjectionGateTests
{
    private readonly List<Epoch> _asked = [];

    [Fact]
    public async Task Projection_that_the_agent_knows_passes()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var gate = GateOf(cluster.First);
        Assert.Equal(Status.Ok, gate.Judge(new InstallRequest(cluster.First)));
        Assert.Equal(Status.Ok, gate.Judge(new BootstrapRequest(cluster.First)));
        Assert.Empty(_asked);
    }

    [Fact]
    public async Task Later_projection_makes_the_agent_read_the_layout_and_is_refused_for_now()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var next = Like(cluster.First, cluster.First.Epoch.Next);
        var gate = GateOf(cluster.First);
        Assert.Equal(Status.NotInstalled, gate.Judge(new InstallRequest(next)));
        Assert.Equal(Status.NotBootstrapped, gate.Judge(new BootstrapRequest(next)));
        Assert.Equal([next.Epoch, next.Epoch], _asked);
        Assert.Equal(Status.NotInstalled, GateOf(null).Judge(new InstallRequest(cluster.First)));
    }

    [Fact]
    public async Task Projection_that_contradicts_the_decided_one_is_denied()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var forged = Like(cluster.First, cluster.First.Epoch);
        Assert.Equal(Status.Denied, GateOf(cluster.First).Judge(new InstallRequest(forged)));
        Assert.Empty(_asked);
    }

    [Fact]
    public async Task Client_that_is_behind_is_told_so()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var gate = GateOf(Like(cluster.First, cluster.First.Epoch.Next));
        Assert.Equal(Status.Sealed, gate.Judge(new InstallRequest(cluster.First)));
    }

    private static Projection Like(Projection p, Epoch epoch) => new(p.Cluster, epoch, p.Sequencer, p.Start,
        p.TrimMark, p.Segments, p.Units, p.Acceptors, "another");

    private ProjectionGate GateOf(Projection? known) => new(() => known, _asked.Add);
}
