using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Corfu.Protocol;

namespace Corfu.Transport.Tests.Tls;

/// <summary>Who is let in over TLS, and what each side hears of a refusal.</summary>
public sealed class TlsHandshakeTests
{
    private static readonly ConfirmEpochRequest Ping = new(new Epoch(7));
    private static readonly DateTimeOffset Now = DateTimeOffset.UtcNow;
    private static readonly DateTimeOffset EndOfTime = new(9999, 12, 31, 23, 59, 59, TimeSpan.Zero);

    private readonly TestAuthority _authority = new(TestServer.Cluster);

    public static TheoryData<string, string> BadClients => new()
    {
        { "expired", "ended at" },
        { "not yet valid", "compare the clocks" },
        { "valid from the end of time on", "is damaged" },
        { "other authority", "ca.pem" },
        { "other cluster", "is for cluster" },
        { "caller", "caller's certificate" },
        { "two identities", "2 identities" },
        { "no identity", "names no identity" },
        { "an authority's own", "is an authority's" },
        { "for servers only", "extended key usage" },
        { "not for signatures", "digital signatures" },
    };

    [Theory]
    [MemberData(nameof(BadClients))]
    public async Task Client_with_a_bad_certificate_is_refused_with_the_reason_at_both_sides(string what, string reason)
    {
        var log = new Lines();
        await using var server = await TestServer.StartAsync(tls: Node(), logger: log);
        var echo = server.AddEcho();
        using var transport = TestServer.Connect(tls: TlsOf(BadClient(what)));
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.CallAsync(server.AddressOf(echo), Ping, default));
        Assert.False(refused.OutcomeUnknown);
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
        Assert.Equal(0, echo.Requests);

        // The answer leaves before the line is written.
        await Poll.UntilAsync(() => log.Written.Any(line => line.Contains(reason, StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(AccessRole.Client)]
    [InlineData(AccessRole.Admin)]
    [InlineData(AccessRole.Node)]
    public async Task Peer_is_known_by_the_role_and_name_of_the_certificate(AccessRole role)
    {
        await using var server = await TestServer.StartAsync(tls: Node());
        var asked = new PrincipalRole();
        server.Registry.Add(asked);
        using var transport = TestServer.Connect(tls: TlsOf(_authority.Credentials(role, "x.1-y")));
        await transport.CallAsync(server.AddressOf(asked), Ping, default);
        Assert.Equal((role, "x.1-y"), (asked.Seen!.Role, asked.Seen.Name));
        Assert.NotNull(asked.Seen.Serial);
    }

    [Theory]
    [InlineData(AccessRole.Node, AccessRole.Client, AccessRole.Client)]
    [InlineData(AccessRole.Node, AccessRole.Node, AccessRole.Node)]
    [InlineData(AccessRole.Client, AccessRole.Node, AccessRole.Client)]
    public async Task Hello_lowers_and_never_raises_the_role(AccessRole role, AccessRole asked, AccessRole expected)
    {
        await using var server = await TestServer.StartAsync(tls: Node());
        var handler = new PrincipalRole();
        server.Registry.Add(handler);
        using var transport = new TcpTransport(new TcpTransportOptions
        {
            Cluster = TestServer.Cluster,
            Tls = TlsOf(_authority.Credentials(role)),
            Role = asked,
        });
        await transport.CallAsync(server.AddressOf(handler), Ping, default);
        Assert.Equal(expected, handler.Seen!.Role);
    }

    [Theory]
    [InlineData(AccessRole.Client, "a server must be a node")]
    [InlineData(AccessRole.Admin, "a server must be a node")]
    public async Task Server_that_is_no_node_is_not_trusted(AccessRole role, string reason)
    {
        await using var server = await TestServer.StartAsync(tls: TlsOf(_authority.Credentials(role)));
        var refused = await RefusedAsync(server, TlsOf(_authority.Credentials(AccessRole.Client)));
        Assert.Contains(reason, refused, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Server_of_another_authority_is_not_trusted()
    {
        var other = new TestAuthority(TestServer.Cluster);
        await using var server = await TestServer.StartAsync(tls: TlsOf(other.Credentials(AccessRole.Node)));
        var refused = await RefusedAsync(server, TlsOf(_authority.Credentials(AccessRole.Client)));
        Assert.Contains("not trusted", refused, StringComparison.Ordinal);
        Assert.Contains("ca.pem", refused, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Plain_client_learns_that_the_node_may_require_tls()
    {
        await using var server = await TestServer.StartAsync(tls: Node());
        Assert.Contains("corfus://", await RefusedAsync(server, null), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Tls_client_never_falls_back_and_learns_that_the_node_may_have_none()
    {
        await using var server = await TestServer.StartAsync();
        var refused = await RefusedAsync(server, TlsOf(_authority.Credentials(AccessRole.Client)));
        Assert.Contains("give it certificates", refused, StringComparison.Ordinal);
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 0);
    }

    [Theory]
    [InlineData(TlsMode.Both, false, true)]
    [InlineData(TlsMode.Both, true, true)]
    [InlineData(TlsMode.Required, false, false)]
    public async Task Node_that_moves_to_tls_serves_both_kinds(TlsMode mode, bool encrypted, bool served)
    {
        await using var server = await TestServer.StartAsync(
            tls: new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node)), mode));
        var handler = new PrincipalRole();
        server.Registry.Add(handler);
        using var transport =
            TestServer.Connect(tls: encrypted ? TlsOf(_authority.Credentials(AccessRole.Client)) : null);
        var call = transport.CallAsync(server.AddressOf(handler), Ping, default).AsTask();
        if (served) await call;
        else await Assert.ThrowsAsync<TransportException>(() => call);
        Assert.Equal(served ? encrypted ? AccessRole.Client : AccessRole.Node : null, handler.Seen?.Role);
    }

    [Fact]
    public async Task Node_that_moves_to_tls_reaches_nodes_without_tls()
    {
        await using var server = await TestServer.StartAsync();
        var handler = new PrincipalRole();
        server.Registry.Add(handler);
        using var transport = TestServer.Connect(
            tls: new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node)), TlsMode.Both));
        await transport.CallAsync(server.AddressOf(handler), Ping, default);
        Assert.Equal(AccessRole.Node, handler.Seen!.Role);
        Assert.Null(handler.Seen.Serial);
    }

    /// <summary>As a process of that node with a <c>corfus://</c> string.</summary>
    [Fact]
    public async Task Connections_that_are_never_plain_stay_so_in_a_node_that_moves_to_tls()
    {
        await using var server = await TestServer.StartAsync();
        var tls = new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node)), TlsMode.Both);
        using var transport = new TcpTransport(
            new TcpTransportOptions { Cluster = TestServer.Cluster, Tls = tls, NeverPlain = true });
        var refused = await Assert.ThrowsAsync<TransportException>(
            () => transport.CallAsync(server.AddressOf(server.AddEcho()), Ping, default).AsTask());
        Assert.Contains("give it certificates", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(SslProtocols.Tls12, true)]
    [InlineData(SslProtocols.Tls13, false)]
    public async Task Other_versions_and_other_protocols_reach_no_server(SslProtocols version, bool alpn)
    {
        await using var server = await TestServer.StartAsync(tls: Node());
        using var socket = await server.RawAsync();
        await using var stream = new SslStream(new System.Net.Sockets.NetworkStream(socket));
        var credentials = _authority.Credentials(AccessRole.Node);
        byte[] answer = [];
        try
        {
            await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                EnabledSslProtocols = version,
                ApplicationProtocols = alpn ? [ClusterTls.Protocol] : [SslApplicationProtocol.Http2],
                ClientCertificateContext = credentials.Context,
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
            });
            await stream.WriteAsync(Wire.Hello(TestServer.Cluster, NodeId.None));
            answer = new byte[1000];
            answer = answer[..await stream.ReadAsync(answer)];
        }
        catch (Exception e) when (e is IOException or AuthenticationException)
        {
            // The server ended the handshake.
        }

        Assert.True(answer.Length == 0 || answer[10] == (byte)Status.Denied);
    }

    [Fact]
    public async Task Mapped_certificate_of_a_company_has_the_role_of_the_mapping()
    {
        var mapping = new CertificateMapping(AccessRole.Client, "billing") { Dns = "LOCALHOST" };
        var options = new TlsOptions { Map = [mapping] };
        await using var server = await TestServer.StartAsync(
            tls: new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node)), options: options));
        var handler = new PrincipalRole();
        server.Registry.Add(handler);
        var bare = _authority.Issue(null);
        var own = new TlsCredentials(bare, [], _authority.Anchors,
            new CertificateIdentity(TestServer.Cluster, AccessRole.Client, "billing"));
        using var transport = TestServer.Connect(tls: TlsOf(own));
        await transport.CallAsync(server.AddressOf(handler), Ping, default);
        Assert.Equal((AccessRole.Client, "billing"), (handler.Seen!.Role, handler.Seen.Name));
    }

    [Fact]
    public async Task Expired_certificate_of_a_node_counts_for_days_and_no_longer()
    {
        var authority = new TestAuthority(TestServer.Cluster, Now.AddDays(-100));
        await using var server = await TestServer.StartAsync(tls: TlsOf(authority.Credentials(AccessRole.Node)));
        var handler = new PrincipalRole();
        server.Registry.Add(handler);
        using (var late = TestServer.Connect(tls: TlsOf(EndedBefore(TimeSpan.FromDays(6)))))
            await late.CallAsync(server.AddressOf(handler), Ping, default);
        Assert.Equal(AccessRole.Node, handler.Seen!.Role);
        Assert.Contains("ended at", await RefusedAsync(server, TlsOf(EndedBefore(TimeSpan.FromDays(8)))),
            StringComparison.Ordinal);

        TlsCredentials EndedBefore(TimeSpan time) => authority.Credentials(AccessRole.Node,
            order: new TestOrder { NotBefore = Now.AddHours(-23) - time, NotAfter = Now - time });
    }

    [Theory]
    [InlineData(1024, "is weak")]
    [InlineData(2048, null)]
    public void Short_key_is_refused(int bits, string? reason)
    {
        var identity = new CertificateIdentity(TestServer.Cluster, AccessRole.Client, "a");
        using var certificate = _authority.Issue(identity, new TestOrder { RsaBits = bits });
        var verdict = Node().Verify(certificate, [], server: false);
        if (reason is null) Assert.NotNull(verdict.Peer);
        else Assert.Contains(reason, verdict.Reason!, StringComparison.Ordinal);
    }

    private static ClusterTls TlsOf(TlsCredentials credentials) => new(new TestSource(credentials));

    private static async Task<string> RefusedAsync(TestServer server, ClusterTls? tls)
    {
        var echo = server.AddEcho();
        using var transport = TestServer.Connect(tls: tls);
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.CallAsync(server.AddressOf(echo), Ping, default));
        Assert.False(refused.OutcomeUnknown);
        return refused.Message;
    }

    private ClusterTls Node() => TlsOf(_authority.Credentials(AccessRole.Node));

    private TlsCredentials BadClient(string what)
    {
        var good = new CertificateIdentity(TestServer.Cluster, AccessRole.Client, "a");
        var other = new ClusterId(Guid.NewGuid());
        return what switch
        {
            "expired" => Of(good, new TestOrder { NotBefore = Now.AddHours(-9), NotAfter = Now.AddHours(-1) }),
            "not yet valid" => Of(good, new TestOrder { NotBefore = Now.AddHours(1) }),
            "valid from the end of time on" => Of(good, new TestOrder { NotBefore = EndOfTime, NotAfter = EndOfTime }),
            "other authority" => new(new TestAuthority(TestServer.Cluster).Issue(good), [], _authority.Anchors),
            "other cluster" => Of(good with { Cluster = other }),
            "caller" => Of(good with { Role = AccessRole.Caller }),
            "two identities" => Of(good, new TestOrder { FurtherUris = [(good with { Name = "b" }).ToString()] }),
            "no identity" => Of(null),
            "an authority's own" => Of(good, new TestOrder { IsAuthority = true }),
            "for servers only" => Of(good, new TestOrder { Uses = [TestOrder.ServerUse] }),
            "not for signatures" => Of(good, new TestOrder { Usage = X509KeyUsageFlags.KeyEncipherment }),
            _ => throw new ArgumentOutOfRangeException(nameof(what), what, null),
        };

        TlsCredentials Of(CertificateIdentity? identity, TestOrder? order = null) =>
            new(_authority.Issue(identity, order), [], _authority.Anchors, good);
    }
}
