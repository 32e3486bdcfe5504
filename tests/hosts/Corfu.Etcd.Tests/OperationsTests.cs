namespace Corfu.Etcd.Tests;

/// <summary>Members, maintenance and the calls that are not there.</summary>
public sealed class OperationsTests : IAsyncDisposable
{
    private readonly EtcdWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Front_ends_are_listed_while_serving_and_make_no_revision()
    {
        var one = await _world.StartAsync();
        var two = await _world.StartAsync();
        Assert.Equal(Addresses(one, two), await MembersAsync(one));
        Assert.Equal(Addresses(one, two), await MembersAsync(two));
        await two.StopAsync();
        Assert.Equal(Addresses(one), await MembersAsync(one));
        Assert.Equal(2, await one.PutAsync("a", "1"));
    }

    [Fact]
    public async Task Status_names_a_leader_that_all_front_ends_agree_on()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        await two.PutAsync("a", "1");
        // A status is of what the front end knows.
        await one.GetAsync("a");
        await MembersAsync(one);
        await MembersAsync(two);
        var (first, second) = (await one.Maintenance.StatusAsync(new StatusRequest()),
            await two.Maintenance.StatusAsync(new StatusRequest()));
        Assert.Equal((first.Leader, "3.4.23", 7UL), (second.Leader, first.Version, first.RaftTerm));
        Assert.Contains(first.Leader, (ulong[])[first.Header.MemberId, second.Header.MemberId]);
        Assert.Equal((2, 2UL), (first.Header.Revision, first.RaftIndex));
        Assert.Empty((await one.Maintenance.AlarmAsync(new AlarmRequest())).Alarms);
        await one.Maintenance.DefragmentAsync(new DefragmentRequest());
    }

    [Fact]
    public async Task Hash_is_equal_at_all_front_ends_and_another_one_after_a_change()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        await one.PutAsync("a", "1");
        await one.PutAsync("a", "2");
        var hash = await one.Maintenance.HashKVAsync(new HashKVRequest());
        Assert.Equal(hash.Hash, (await two.Maintenance.HashKVAsync(new HashKVRequest())).Hash);
        Assert.Equal(hash.Hash, (await two.Maintenance.HashAsync(new HashRequest())).Hash);
        Assert.NotEqual(hash.Hash, (await two.Maintenance.HashKVAsync(new HashKVRequest { Revision = 2 })).Hash);
    }

    [Fact]
    public async Task Calls_that_a_front_end_lacks_name_the_way_to_go_instead()
    {
        var client = await _world.StartAsync();
        Assert.Equal(StatusCode.Unimplemented,
            (await FailureOf(client.Cluster.MemberAddAsync(new MemberAddRequest()))).Code);
        Assert.Equal(StatusCode.Unimplemented,
            (await FailureOf(client.Maintenance.MoveLeaderAsync(new MoveLeaderRequest()))).Code);
        using var snapshot = client.Maintenance.Snapshot(new SnapshotRequest());
        var failure = await Assert.ThrowsAsync<RpcException>(
            () => snapshot.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Contains("corfu backup", failure.Status.Detail);
        Assert.Equal((StatusCode.FailedPrecondition, "etcdserver: authentication is not enabled"),
            await FailureOf(client.Auth.AuthenticateAsync(new AuthenticateRequest { Name = "root" })));
        Assert.Equal((StatusCode.FailedPrecondition, "etcdserver: root user does not exist"),
            await FailureOf(client.Auth.AuthEnableAsync(new AuthEnableRequest())));
        Assert.False((await client.Auth.AuthStatusAsync(new AuthStatusRequest())).Enabled);
        Assert.Empty((await client.Auth.UserListAsync(new AuthUserListRequest())).Users);
        Assert.Empty((await client.Auth.RoleListAsync(new AuthRoleListRequest())).Roles);
    }

    private static async Task<IEnumerable<string>> MembersAsync(EtcdClient client) =>
        (await client.Cluster.MemberListAsync(new MemberListRequest { Linearizable = true })).Members
        .Select(static member => Assert.Single(member.ClientURLs)).Order();

    private static IEnumerable<string> Addresses(params EtcdClient[] clients) =>
        clients.Select(static client => client.Address.ToString().TrimEnd('/')).Order();
}
