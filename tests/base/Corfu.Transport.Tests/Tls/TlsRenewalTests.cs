using Corfu.Protocol;

namespace Corfu.Transport.Tests.Tls;

/// <summary>Certificates change, end and are revoked while connections are open.</summary>
public sealed class TlsRenewalTests
{
    private static readonly ConfirmEpochRequest Ping = new(new Epoch(7));

    private readonly TestAuthority _authority = new(TestServer.Cluster);

    [Fact]
    public async Task Renewal_under_load_loses_and_refuses_no_request()
    {
        var node = new TestSource(_authority.Credentials(AccessRole.Node));
        var client = new TestSource(_authority.Credentials(AccessRole.Client));
        await using var server = await TestServer.StartAsync(tls: new ClusterTls(node));
        var role = new PrincipalRole();
        server.Registry.Add(role);
        using var transport = TestServer.Connect(tls: new ClusterTls(client));
        var to = server.AddressOf(role);
        using var stop = new CancellationTokenSource();
        var load = Enumerable.Range(0, 16).Select(_ => Task.Run(async () =>
        {
            while (!stop.IsCancellationRequested)
                Assert.Equal(Status.Ok, (await transport.CallAsync(to, Ping, default)).Status);
        })).ToArray();
        await Poll.UntilAsync(() => role.Seen is not null);
        for (var renewal = 0; renewal < 5; renewal++)
        {
            node.Current = _authority.Credentials(AccessRole.Node);
            client.Current = _authority.Credentials(AccessRole.Client);
            var serial = client.Current.Certificate.SerialNumber;
            await Poll.UntilAsync(() => role.Seen!.Serial == serial || load.Any(task => task.IsFaulted));
            await Poll.UntilAsync(() => server.Registry.ConnectionCount == 1 || load.Any(task => task.IsFaulted));
        }

        await stop.CancelAsync();
        await Task.WhenAll(load);
    }

    [Fact]
    public async Task Connection_before_a_renewal_ends_after_the_last_answer()
    {
        var client = new TestSource(_authority.Credentials(AccessRole.Client));
        await using var server = await TestServer.StartAsync(tls: Node());
        var echo = server.AddEcho();
        echo.Hold = true;
        using var transport = TestServer.Connect(tls: new ClusterTls(client));
        var to = server.AddressOf(echo);
        var held = transport.CallAsync(to, Ping, default).AsTask();
        await Poll.UntilAsync(() => echo.HeldCount == 1);
        client.Current = _authority.Credentials(AccessRole.Client);
        await Poll.UntilAsync(() => transport.ConnectionCount == 2);
        echo.Hold = false;
        await transport.CallAsync(to, Ping, default);
        Assert.Equal(2, transport.ConnectionCount);
        echo.Release(newestFirst: false);
        await held;
        await Poll.UntilAsync(() => transport.ConnectionCount == 1);
    }

    [Fact]
    public async Task Connection_stays_while_none_with_the_new_certificate_can_be_made()
    {
        var client = new TestSource(_authority.Credentials(AccessRole.Client));
        var log = new Lines();
        await using var server = await TestServer.StartAsync(tls: Node(), logger: log);
        var echo = server.AddEcho();
        using var transport = TestServer.Connect(tls: new ClusterTls(client));
        await transport.CallAsync(server.AddressOf(echo), Ping, default);
        var unknown = new TestAuthority(TestServer.Cluster);
        client.Current = new TlsCredentials(unknown.Credentials(AccessRole.Client).Certificate, [],
            [_authority.Certificate, unknown.Certificate]);
        await Poll.UntilAsync(() => log.Written.Any(line => line.Contains("ca.pem", StringComparison.Ordinal)));
        await transport.CallAsync(server.AddressOf(echo), Ping, default);
        Assert.Equal(1, transport.ConnectionCount);
    }

    [Fact]
    public async Task Denied_client_is_cut_off_and_stays_out()
    {
        var denied = new TestDenyList();
        var node = Node();
        node.Deny(denied);
        var credentials = _authority.Credentials(AccessRole.Client);
        var log = new Lines();
        await using var server = await TestServer.StartAsync(tls: node, logger: log);
        var echo = server.AddEcho();
        echo.Hold = true;
        using var transport = TestServer.Connect(tls: new ClusterTls(new TestSource(credentials)));
        var to = server.AddressOf(echo);
        var held = transport.CallAsync(to, Ping, default).AsTask();
        await Poll.UntilAsync(() => echo.HeldCount == 1);
        denied.Add(credentials.Certificate);
        Assert.True((await Assert.ThrowsAsync<TransportException>(() => held)).OutcomeUnknown);
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.CallAsync(to, Ping, default));
        Assert.Contains("revoked", refused.Message, StringComparison.Ordinal);
        await Poll.UntilAsync(() => log.Written.Any(line => line.Contains("revoked", StringComparison.Ordinal)));
        using var other = TestServer.Connect(
            tls: new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Client, "b"))));
        echo.Hold = false;
        await other.CallAsync(to, Ping, default);
    }

    [Fact]
    public async Task Denied_node_is_left_by_clients()
    {
        var denied = new TestDenyList();
        var credentials = _authority.Credentials(AccessRole.Node);
        await using var server = await TestServer.StartAsync(tls: new ClusterTls(new TestSource(credentials)));
        var echo = server.AddEcho();
        var tls = new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node, "b")));
        tls.Deny(denied);
        using var transport = TestServer.Connect(tls: tls);
        await transport.CallAsync(server.AddressOf(echo), Ping, default);
        denied.Add(credentials.Certificate);
        await Poll.UntilAsync(() => transport.ConnectionCount == 0);
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.CallAsync(server.AddressOf(echo), Ping, default));
        Assert.Contains("revoked", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(AccessRole.Client, false)]
    [InlineData(AccessRole.Node, true)]
    public async Task Connection_ends_with_the_certificate_except_for_nodes(AccessRole role, bool stays)
    {
        var time = new ShiftedTime();
        var node = new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node)), time: time);
        await using var server = await TestServer.StartAsync(tls: node);
        var echo = server.AddEcho();
        using var transport = TestServer.Connect(
            tls: new ClusterTls(new TestSource(_authority.Credentials(role))));
        await transport.CallAsync(server.AddressOf(echo), Ping, default);
        time.Shift = TimeSpan.FromDays(2);
        node.Deny(new TestDenyList());
        if (!stays) await Poll.UntilAsync(() => server.Registry.ConnectionCount == 0);
        else await transport.CallAsync(server.AddressOf(echo), Ping, default);
        Assert.Equal(stays ? 1 : 0, server.Registry.ConnectionCount);
    }

    [Fact]
    public async Task Authority_that_is_taken_out_takes_issued_clients_along()
    {
        var before = new TestAuthority(TestServer.Cluster);
        var mine = _authority.Credentials(AccessRole.Node).Certificate;
        var node = new TestSource(new TlsCredentials(mine, [], [_authority.Certificate, before.Certificate]));
        await using var server = await TestServer.StartAsync(tls: new ClusterTls(node));
        var echo = server.AddEcho();
        var both = new TlsCredentials(before.Credentials(AccessRole.Client).Certificate, [], _authority.Anchors);
        using var old = TestServer.Connect(tls: new ClusterTls(new TestSource(both)));
        using var renewed = TestServer.Connect(
            tls: new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Client))));
        await old.CallAsync(server.AddressOf(echo), Ping, default);
        await renewed.CallAsync(server.AddressOf(echo), Ping, default);
        node.Current = new TlsCredentials(mine, [], _authority.Anchors);
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 1);
        await Assert.ThrowsAsync<TransportException>(
            async () => await old.CallAsync(server.AddressOf(echo), Ping, default));
        await renewed.CallAsync(server.AddressOf(echo), Ping, default);
    }

    private ClusterTls Node() => new(new TestSource(_authority.Credentials(AccessRole.Node)));
}
