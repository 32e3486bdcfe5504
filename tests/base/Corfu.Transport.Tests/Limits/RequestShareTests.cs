using Corfu.Protocol;
using Corfu.Server;

namespace Corfu.Transport.Tests.Limits;

public sealed class RequestShareTests
{
    private static readonly ServerTransportOptions s_options = new();

    private readonly RoleLoad _role = new(new NodeId(new Guid(1, 0, 0, new byte[8])), maxWaiting: 65536);

    [Fact]
    public void Identity_alone_has_all_and_each_connection_a_separate_limit()
    {
        var share = Share(connections: 4);
        Assert.Equal(s_options.MaxInFlight, share.LimitOf(0, s_options));
        share.Add(49_152 - 100);
        Assert.Equal(100, share.LimitOf(0, s_options));
    }

    [Fact]
    public void Identities_that_ask_have_equal_shares()
    {
        var (one, two, three) = (Share(), Share(), Share());
        foreach (var share in (RequestShare[])[one, two, three]) share.LimitOf(0, s_options);
        Assert.Equal(3, _role.Active);
        one.Add(16_384);
        Assert.Equal(RequestShare.Floor, one.LimitOf(0, s_options));
        Assert.Equal(16_384, two.LimitOf(0, s_options));
    }

    [Fact]
    public void Many_identities_have_the_least_share_each()
    {
        var shares = Enumerable.Range(0, 100).Select(_ => Share()).ToList();
        foreach (var share in shares) share.LimitOf(0, s_options);
        shares[0].Add(1000);
        Assert.Equal(1024, shares[0].LimitOf(1000, s_options));
        shares[0].Add(24);
        Assert.Equal(RequestShare.Floor, shares[0].LimitOf(0, s_options));
    }

    [Fact]
    public void Every_connection_gets_on_whatever_other_connections_of_the_identity_hold()
    {
        var share = Share(connections: 200);
        share.Add(60_000);
        Assert.Equal(RequestShare.Floor, share.LimitOf(0, s_options));
        Assert.Equal(500, share.LimitOf(500, s_options));
    }

    [Fact]
    public void Connection_above_an_equal_part_leaves_the_last_eighth_to_other_connections()
    {
        var share = Share(connections: 4);
        share.Add(48_000);
        Assert.Equal(RequestShare.Floor, share.LimitOf(RequestShare.Floor - 32, s_options with { MaxInFlight = 32 }));

        // The part is 12,288. One below it may fill the share; one above it waits until an eighth is free.
        Assert.Equal(1000 + 1152, share.LimitOf(1000, s_options));
        Assert.Equal(14_000, share.LimitOf(14_000, s_options));
        share.Add(-6000);
        Assert.Equal(14_000 + 1008, share.LimitOf(14_000, s_options));
    }

    [Fact]
    public void Role_that_lets_few_wait_has_smaller_shares_and_floors()
    {
        var acceptor = new RoleLoad(_role.Role, maxWaiting: 4096);
        var (one, two) = (new RequestShare(acceptor, isNode: false) { Connections = 1 },
            new RequestShare(acceptor, isNode: false) { Connections = 1 });
        Assert.Equal(3072, one.LimitOf(0, s_options));
        two.LimitOf(0, s_options);
        one.Add(1536);
        Assert.Equal(1536, one.LimitOf(1536, s_options));
        Assert.Equal(2, one.LimitOf(0, s_options));
        Assert.Equal(1536, two.LimitOf(0, s_options));
    }

    [Fact]
    public void Identities_hold_equal_parts_of_the_shared_requests_of_a_role()
    {
        var (one, two) = (Share(), Share());
        one.LimitOf(0, s_options);
        Assert.True(one.TryHold(500, 1000));
        Assert.True(one.TryHold(250, 1000));
        Assert.False(one.TryHold(1, 1000));
        two.LimitOf(0, s_options);
        one.Release(750);

        // The first one is let in whatever its size; then half of three quarters.
        Assert.True(one.TryHold(5000, 1000));
        Assert.False(one.TryHold(1, 1000));
        Assert.True(two.TryHold(375, 1000));
        Assert.False(two.TryHold(1, 1000));
        Assert.True(new RequestShare(_role, isNode: true).TryHold(10_000, 1000));
    }

    [Fact]
    public void Certificate_of_a_node_has_no_share()
    {
        var node = new RequestShare(_role, isNode: true);
        node.Add(1_000_000);
        Assert.Equal(s_options.MaxInFlight, node.LimitOf(0, s_options));
        Assert.Equal(0, _role.Active);
    }

    [Fact]
    public void Identity_silent_for_a_second_gives_the_share_to_other_identities()
    {
        var (one, two) = (Share(), Share());
        one.LimitOf(0, s_options);
        two.LimitOf(0, s_options);
        two.Add(5);
        Sweep();
        Sweep();
        Assert.Equal(1, _role.Active);
        two.Add(-5);
        Sweep();
        Assert.Equal(0, _role.Active);
        one.LimitOf(0, s_options);
        one.LimitOf(0, s_options);
        Assert.Equal(1, _role.Active);

        void Sweep()
        {
            one.Sweep();
            two.Sweep();
        }
    }

    private RequestShare Share(int connections = 1) => new(_role, isNode: false) { Connections = connections };
}
