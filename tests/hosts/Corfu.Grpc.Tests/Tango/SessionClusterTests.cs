using Corfu.Grpc.Protocol.Tango.V1;
using Corfu.Hosting;

namespace Corfu.Grpc.Tests.Tango;

/// <summary>Sessions at front ends of one cluster, as nodes have them.</summary>
public sealed class SessionClusterTests
{
    [Fact]
    public async Task Session_of_a_killed_front_end_goes_on_at_another_of_the_cluster()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        await using var first = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        await using var second = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        await new ObjectService.ObjectServiceClient(first.Channel).CreateAsync(
            new CreateRequest { Object = "mutex", Type = ObjectType.Lock });
        var session = await CallerSession.OpenAsync(
            new SessionService.SessionServiceClient(first.Channel), TimeSpan.FromMinutes(1), "mine", []);
        var token = (await new LockService.LockServiceClient(first.Channel).AcquireAsync(
            new AcquireRequest { Object = "mutex", Session = session.Id })).FencingToken;
        await first.AbortAsync();

        await using var again = await CallerSession.OpenAsync(
            new SessionService.SessionServiceClient(second.Channel), TimeSpan.FromMinutes(1), "mine",
            [new Holding { Object = "mutex", FencingToken = token }]);
        Assert.Empty(again.Lost);
        await again.RenewAsync();
        var locks = new LockService.LockServiceClient(second.Channel);
        var holder = await locks.GetHolderAsync(new GetHolderRequest { Object = "mutex" });
        Assert.Equal((token, "mine"), (holder.FencingToken, holder.Owner));
        await again.EndAsync();
        Assert.False((await locks.GetHolderAsync(new GetHolderRequest { Object = "mutex" })).HasFencingToken);
        await session.DisposeAsync();
    }
}
