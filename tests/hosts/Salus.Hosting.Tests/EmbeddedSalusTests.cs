using Salus.Coordination;

namespace Salus.Hosting.Tests;

/// <summary>Nodes over real files, connections and a real log.</summary>
public sealed class EmbeddedSalusTests : IAsyncLifetime
{
    private EmbeddedCluster _cluster = null!;
    private EmbeddedSalus _salus = null!;

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        _salus = await EmbeddedSalus.StartAsync(_cluster.ConnectionString);
    }

    public async ValueTask DisposeAsync()
    {
        await _salus.DisposeAsync();
        await _cluster.DisposeAsync();
    }

    [Fact]
    public async Task Restarted_node_has_the_store_and_another_incarnation()
    {
        await using var log = await SalusLog.ConnectAsync(_salus.Log);
        var before = await log.Admin.NodesAsync();
        Assert.Equal(3, before.Stores.Count);
        var name = _salus.Nodes.Keys.First();
        var endpoint = _salus.Nodes[name].Endpoint;
        var booked = before.Stores.Values.Single(node => node.Endpoint == endpoint);
        await _salus.StopNodeAsync(name);
        Assert.Equal(BookedState.Gone, (await log.Admin.NodesAsync()).Find(booked.Store)!.State);
        await _salus.StartNodeAsync(name);
        var after = await log.Admin.NodesAsync();
        Assert.Equal(3, after.Stores.Count);
        Assert.Equal((booked.Store, BookedState.Live, endpoint),
            (after.Find(booked.Store)!.Store, after.Find(booked.Store)!.State, after.Find(booked.Store)!.Endpoint));
        Assert.NotEqual(booked.Incarnation, after.Find(booked.Store)!.Incarnation);
    }
}
