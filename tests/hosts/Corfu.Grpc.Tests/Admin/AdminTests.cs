using Corfu.Grpc.Protocol.Admin.V1;
using Corfu.Hosting;
using Grpc.Core;
using Google.Rpc;

namespace Corfu.Grpc.Tests.Admin;

public sealed class AdminTests
{
    [Fact]
    public async Task A_cluster_is_looked_at_and_not_changed_unless_that_is_allowed()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        await using var own = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var admin = new AdminService.AdminServiceClient(own.Channel);
        await using var client = await cluster.ConnectAsync();
        (await client.AppendAsync(new byte[] { 1 }, [])).Require();

        var status = await admin.StatusAsync(new StatusRequest());
        Assert.Equal(client.Projection.Epoch.Value, status.Projection.Epoch);
        Assert.Equal(client.Projection.Units.Select(unit => unit.Id.ToString()),
            status.Projection.Units.Select(unit => unit.Id));
        Assert.Equal(client.Projection.Active.Chains.Length, status.Projection.Chains.Count);
        Assert.True(status.Tail.Offset > 0);
        var history = await admin.HistoryAsync(new HistoryRequest());
        Assert.Equal(status.Projection.Epoch, history.Epochs[0].Epoch);
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await FailureOf(async () => await admin.HistoryAsync(new HistoryRequest { PageSize = -1 })));

        var change = new ReconfigureRequest { SetReplicas = new SetReplicas { Replicas = 1 } };
        Assert.Equal((StatusCode.PermissionDenied, "NOT_ALLOWED"),
            await FailureOf(() => ReconfigureAsync(admin, change)));
        Assert.Equal(status.Projection.Epoch, (await admin.StatusAsync(new StatusRequest())).Projection.Epoch);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Reconfiguration_reports_progress_and_outcome(bool opensForChanges)
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 2, Replicas = 2, Automatic = false });
        await using var own = await FrontEnd.ConnectAsync(
            cluster.ConnectionString, static options => options.AllowAdmin = true, opensForChanges);
        var admin = new AdminService.AdminServiceClient(own.Channel);
        await using (var client = await cluster.ConnectAsync())
        {
            for (var i = 0; i < 20; i++) (await client.AppendAsync(new byte[] { 1 }, [])).Require();
        }

        var events = await ReconfigureAsync(
            admin, new ReconfigureRequest { SetReplicas = new SetReplicas { Replicas = 1 } });
        var done = events[^1].Done.Projection;
        Assert.All(done.Chains, chain => Assert.Single(chain.Units));
        Assert.Contains("front end for 127.0.0.1", done.Reason, StringComparison.Ordinal);
        Assert.All(events.SkipLast(1), one => Assert.True(one.Progress.Done <= one.Progress.Total));
        var history = await admin.HistoryAsync(new HistoryRequest { PageSize = 1 });
        Assert.Equal(done.Epoch, Assert.Single(history.Epochs).Epoch);

        Assert.Equal((StatusCode.FailedPrecondition, "OPERATION_REFUSED"), await FailureOf(() => ReconfigureAsync(
            admin, new ReconfigureRequest { SetReplicas = new SetReplicas { Replicas = 9 } })));
        Assert.Equal((StatusCode.FailedPrecondition, "OPERATION_REFUSED"), await FailureOf(() => ReconfigureAsync(
            admin, new ReconfigureRequest { RemoveUnit = new RemoveUnit { Unit = "nowhere:1" } })));
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await FailureOf(() => ReconfigureAsync(admin, new ReconfigureRequest())));
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"), await FailureOf(() => ReconfigureAsync(
            admin, new ReconfigureRequest { AddUnits = new AddUnits { Endpoints = { "nonsense" } } })));
    }

    private static async Task<List<ReconfigureEvent>> ReconfigureAsync(
        AdminService.AdminServiceClient admin, ReconfigureRequest request)
    {
        using var call = admin.Reconfigure(request);
        var events = new List<ReconfigureEvent>();
        await foreach (var told in call.ResponseStream.ReadAllAsync()) events.Add(told);
        return events;
    }

    private static async Task<(StatusCode Code, string Reason)> FailureOf(Func<Task> call)
    {
        var failure = await Assert.ThrowsAsync<RpcException>(call);
        return (failure.StatusCode, failure.GetRpcStatus()!.GetDetail<ErrorInfo>()!.Reason);
    }
}
