using System.Net;
using Corfu.Protocol;
using Corfu.Server;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Transport.Tests.Limits;

public sealed class PlaceTests : IDisposable
{
    private static readonly ServerTransportOptions s_small = new()
    {
        MaxConnections = 8,
        ReservedConnections = 2,
        MaxIdentityConnections = 3,
        MaxHandshakes = 4,
        MaxAddressHandshakes = 2,
        ReservedHandshakes = 1,
    };

    private readonly ManualTime _time = new();
    private readonly RoleRegistry _registry;

    public PlaceTests() => _registry = new RoleRegistry(TestServer.Cluster, new RequestTable(UnitMessages.AddTo),
        s_small, _time);

    public void Dispose() => _registry.Dispose();

    [Fact]
    public void Each_identity_has_a_separate_number_of_connections()
    {
        var first = Enter("a");
        Assert.Null(Enter("a").NoPlace);
        Assert.Null(Enter("a").NoPlace);
        Assert.Equal(Refusals.IdentityConnections, Enter("a").NoPlace);
        Assert.Null(Enter("b").NoPlace);
        Leave(first);
        Assert.Null(Enter("a").NoPlace);
    }

    [Fact]
    public void Last_places_are_for_nodes_and_administrators()
    {
        for (var i = 0; i < 6; i++) Assert.Null(Enter($"client-{i}").NoPlace);
        Assert.Equal(Refusals.Connections, Enter("late").NoPlace);
        Assert.Null(Enter("operator", AccessRole.Admin).NoPlace);
        Assert.Null(Enter("node-1", AccessRole.Node).NoPlace);
        Assert.Equal(Refusals.Connections, Enter("node-2", AccessRole.Node).NoPlace);
    }

    [Fact]
    public void Node_has_no_separate_number_of_connections()
    {
        for (var i = 0; i < 8; i++) Assert.Null(Enter("node-1", AccessRole.Node).NoPlace);
    }

    [Fact]
    public void Roles_of_one_name_are_counted_apart()
    {
        for (var i = 0; i < 3; i++) Assert.Null(Enter("n1", AccessRole.Client).NoPlace);
        Assert.Equal(Refusals.IdentityConnections, Enter("n1", AccessRole.Client).NoPlace);
        Assert.Null(Enter("n1", AccessRole.Node).NoPlace);
    }

    [Fact]
    public void Peer_without_a_certificate_is_counted_by_address_unless_a_process_of_the_cluster_is_there()
    {
        for (var i = 0; i < 3; i++) Assert.Null(EnterPlain("10.0.0.9").NoPlace);
        Assert.Equal(Refusals.IdentityConnections, EnterPlain("10.0.0.9").NoPlace);
        Assert.Equal(Refusals.IdentityConnections, EnterPlain("::ffff:10.0.0.9").NoPlace);

        // On this machine, and at another process's address.
        for (var i = 0; i < 3; i++) Assert.Null(EnterPlain("10.0.0.1").NoPlace);
        _registry.KnownAddresses.Replace([IPAddress.Parse("10.0.0.2")]);
        for (var i = 0; i < 2; i++) Assert.Null(EnterPlain("10.0.0.2").NoPlace);
        Assert.Equal(Refusals.Connections, EnterPlain("10.0.0.2").NoPlace);
    }

    [Fact]
    public void Identity_whose_address_became_a_process_leaves_no_active_share_behind()
    {
        var before = EnterPlain("10.0.0.9");
        var share = _registry.Book.Bind(before, new EchoRole(new NodeId(Guid.NewGuid())))!;
        share.LimitOf(0, s_small);
        Assert.Equal(1, share.Role.Active);
        _registry.Book.Leave(before, share);
        _registry.KnownAddresses.Replace([IPAddress.Parse("10.0.0.9")]);
        Assert.Null(EnterPlain("10.0.0.9").NoPlace);
        Assert.Equal(0, share.Role.Active);
    }

    [Fact]
    public void Refused_connection_holds_no_place()
    {
        for (var i = 0; i < 6; i++) Enter($"client-{i}");
        var refused = Enter("late");
        Leave(refused);
        Assert.Equal(Refusals.Connections, Enter("later").NoPlace);
        Leave(Enter("client-0", AccessRole.Node));
        Assert.Equal(Refusals.Connections, Enter("later").NoPlace);
    }

    [Fact]
    public void Handshakes_of_one_address_leave_places_to_other_addresses()
    {
        var (one, two) = (IPAddress.Parse("10.0.0.8"), IPAddress.Parse("10.0.0.9"));
        var place = _registry.Handshakes.TryEnter(one, isKnown: false);
        Assert.NotNull(place);
        Assert.NotNull(_registry.Handshakes.TryEnter(one, isKnown: false));
        Assert.Null(_registry.Handshakes.TryEnter(one, isKnown: false));
        Assert.NotNull(_registry.Handshakes.TryEnter(two, isKnown: false));
        place.Dispose();
        place.Dispose();
        Assert.NotNull(_registry.Handshakes.TryEnter(one, isKnown: false));
        Assert.Null(_registry.Handshakes.TryEnter(one, isKnown: false));
    }

    [Fact]
    public void Handshake_of_a_known_process_has_a_place_when_the_common_ones_are_taken()
    {
        for (var i = 1; i <= 4; i++)
            Assert.NotNull(_registry.Handshakes.TryEnter(new IPAddress([10, 0, 0, (byte)i]), isKnown: false));
        var peer = IPAddress.Parse("10.0.1.1");
        Assert.Null(_registry.Handshakes.TryEnter(peer, isKnown: false));
        var place = _registry.Handshakes.TryEnter(peer, isKnown: true);
        Assert.NotNull(place);
        Assert.Null(_registry.Handshakes.TryEnter(peer, isKnown: true));
        place.Dispose();
        Assert.NotNull(_registry.Handshakes.TryEnter(peer, isKnown: true));
    }

    [Fact]
    public void Silent_connections_are_bounded_by_address_unless_from_known_processes()
    {
        var peer = IPAddress.Parse("10.0.0.8");
        for (var i = 0; i < 3; i++) Assert.NotNull(_registry.Handshakes.TryWait(peer, isKnown: false));
        Assert.Null(_registry.Handshakes.TryWait(peer, isKnown: false));
        for (var i = 0; i < 5; i++)
            Assert.NotNull(_registry.Handshakes.TryWait(new IPAddress([10, 0, 1, (byte)i]), isKnown: false));
        Assert.Null(_registry.Handshakes.TryWait(IPAddress.Parse("10.0.0.9"), isKnown: false));
        for (var i = 0; i < 20; i++) Assert.NotNull(_registry.Handshakes.TryWait(peer, isKnown: true));
    }

    [Fact]
    public void Options_that_are_changed_hold_for_the_next_connection()
    {
        for (var i = 0; i < 3; i++) Enter("a");
        _registry.UseOptions(s_small with { MaxIdentityConnections = 4 });
        Assert.Null(Enter("a").NoPlace);
        Assert.Throws<ArgumentException>(() => _registry.UseOptions(s_small with { MaxInFlight = 0 }));
        Assert.Equal(Refusals.IdentityConnections, Enter("a").NoPlace);
    }

    private ServerConnection Enter(string name, AccessRole role = AccessRole.Client) =>
        Enter("10.0.0.9", new Principal(role, name) { Serial = "01" });

    private ServerConnection EnterPlain(string address) => Enter(address, null);

    private ServerConnection Enter(string address, Principal? principal)
    {
        var context = new DefaultConnectionContext
        {
            RemoteEndPoint = new IPEndPoint(IPAddress.Parse(address), 40_000),
            LocalEndPoint = new IPEndPoint(IPAddress.Parse("10.0.0.1"), 20_001),
            Transport = new Duplex(),
        };
        if (principal is not null) context.Features.Set(principal);
        var connection = new ServerConnection(_registry, context);
        connection.NoPlace = _registry.Book.Enter(connection);
        return connection;
    }

    private void Leave(ServerConnection connection) => _registry.Book.Leave(connection, null);
}
