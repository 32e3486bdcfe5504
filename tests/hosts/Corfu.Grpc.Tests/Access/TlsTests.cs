using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Corfu.Client;
using Corfu.Grpc.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Protocol;
using Corfu.TestKit;
using Corfu.Transport;
using global::Grpc.Core;
using global::Grpc.Health.V1;
using global::Grpc.Net.Client;

namespace Corfu.Grpc.Tests.Access;

/// <summary>Handshakes with the front end, and the ends of their connections.</summary>
public sealed class TlsTests
{
    private static readonly ClusterId s_cluster = new(new Guid(FrontEnd.ClusterId));

    [Fact]
    public async Task Caller_without_a_certificate_is_served_health_alone()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync();
        var nobody = frontEnd.AsNobody();
        var health = await new Health.HealthClient(nobody.Invoker).CheckAsync(new HealthCheckRequest());
        Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, health.Status);
        Assert.Equal("Unauthenticated", await Caller.RefusalOf(
            async () => await nobody.Log.DescribeAsync(new DescribeRequest())));
    }

    [Fact]
    public async Task Certificate_of_another_authority_is_refused_by_both_sides()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync();
        using var others = new Certificates();
        var stranger = others.Open(AccessRole.Admin, "root");
        var refused = await Assert.ThrowsAsync<RpcException>(async () =>
            await frontEnd.As(stranger).Log.DescribeAsync(new DescribeRequest()));
        Assert.Contains("leads to no certificate", refused.ToString(), StringComparison.Ordinal);
        // The server's side refuses, too, where the client takes any server.
        using var handler = new SocketsHttpHandler
        {
            SslOptions =
            {
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
                ClientCertificateContext = stranger.Source.Current.Context,
            },
        };
        using var channel = GrpcChannel.ForAddress(
            frontEnd.Address, new GrpcChannelOptions { HttpHandler = handler });
        await Assert.ThrowsAsync<RpcException>(async () =>
            await new Health.HealthClient(channel).CheckAsync(new HealthCheckRequest()));
    }

    [Fact]
    public async Task Caller_takes_no_server_but_a_node()
    {
        using var certificates = new Certificates();
        var (client, caller) = (certificates.Open(AccessRole.Client, "x"), certificates.Open(AccessRole.Caller, "y"));
        await using var impostor = await StartAsync(client);
        using var channel = GrpcChannel.ForAddress(
            impostor.Address, new GrpcChannelOptions { HttpHandler = FrontEndHandler.Create(caller) });
        var refused = await Assert.ThrowsAsync<RpcException>(async () =>
            await new LogService.LogServiceClient(channel).DescribeAsync(new DescribeRequest()));
        Assert.Contains("is not trusted", refused.ToString(), StringComparison.Ordinal);
    }

    /// <summary>The address is a stranger's words: a request to it would tell who asks, and what for.</summary>
    [Fact]
    public async Task Caller_asks_no_address_for_the_issuer_that_a_certificate_names()
    {
        var (own, stranger) = (new TestAuthority(s_cluster), new TestAuthority(s_cluster));
        using var issuers = new TcpListener(IPAddress.Loopback, 0);
        issuers.Start();
        using var certificate = stranger.Issue(new CertificateIdentity(s_cluster, AccessRole.Node, "a"),
            new TestOrder { IssuerAddress = $"http://{issuers.LocalEndpoint}/ca.cer" });
        using var server = new TcpListener(IPAddress.Loopback, 0);
        server.Start();
        var serving = Task.Run(async () =>
        {
            await using var accepted = new SslStream((await server.AcceptTcpClientAsync()).GetStream());
            await accepted.AuthenticateAsServerAsync(new SslServerAuthenticationOptions
            {
                ServerCertificateContext = SslStreamCertificateContext.Create(certificate, [], offline: true),
                ApplicationProtocols = [SslApplicationProtocol.Http2],
            });
        });
        using var tls = new ClusterTls(new TestSource(own.Credentials(AccessRole.Caller)));
        using var channel = GrpcChannel.ForAddress(
            $"https://{server.LocalEndpoint}", new GrpcChannelOptions { HttpHandler = FrontEndHandler.Create(tls) });
        var refused = await Assert.ThrowsAsync<RpcException>(async () =>
            await new LogService.LogServiceClient(channel).DescribeAsync(new DescribeRequest()));
        Assert.Contains("leads to no certificate", refused.ToString(), StringComparison.Ordinal);
        Assert.False(issuers.Pending());
        await serving.ContinueWith(static _ => { }, TaskScheduler.Default);
    }

    [Theory]
    [InlineData(SslProtocols.Tls12, true)]
    [InlineData(SslProtocols.Tls13, true)]
#pragma warning disable SYSLIB0039 // The protocol is offered to be refused.
    [InlineData(SslProtocols.Tls11, false)]
#pragma warning restore SYSLIB0039
    public async Task Front_end_speaks_both_new_versions_of_tls(SslProtocols protocol, bool served)
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync();
        using var socket = new TcpClient();
        await socket.ConnectAsync("127.0.0.1", new Uri(frontEnd.Address).Port);
        await using var stream = new SslStream(
            socket.GetStream(), false, static (_, _, _, _) => true);
        var shake = stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            EnabledSslProtocols = protocol,
            ApplicationProtocols = [SslApplicationProtocol.Http2],
        });
        if (served)
        {
            await shake;
            Assert.Equal(SslApplicationProtocol.Http2, stream.NegotiatedApplicationProtocol);
        }
        else await Assert.ThrowsAnyAsync<Exception>(() => shake);
    }

    [Fact]
    public async Task Plain_call_gets_no_answer()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync();
        using var channel = GrpcChannel.ForAddress(frontEnd.Address.Replace("https", "http", StringComparison.Ordinal));
        await Assert.ThrowsAsync<RpcException>(async () =>
            await new Health.HealthClient(channel).CheckAsync(new HealthCheckRequest()));
    }

    [Fact]
    public async Task Connection_of_a_denied_certificate_ends_and_no_other_opens()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync();
        var certificate = frontEnd.Certificates.Open(AccessRole.Client, "x");
        var caller = frontEnd.As(certificate);
        using var subscription = caller.Log.Subscribe(new SubscribeRequest());
        Assert.True(await subscription.ResponseStream.MoveNext());
        frontEnd.Tls.Deny(new Denied(certificate.Source.Current.Certificate.SerialNumber));
        await Assert.ThrowsAsync<RpcException>(async () =>
        {
            while (await subscription.ResponseStream.MoveNext())
            {
            }
        });
        await Assert.ThrowsAsync<RpcException>(async () => await caller.Log.DescribeAsync(new DescribeRequest()));
        Assert.True(await Caller.May(async () =>
            await frontEnd.As(AccessRole.Client, "y").Log.DescribeAsync(new DescribeRequest())));
    }

    [Fact]
    public async Task Log_client_appends_through_a_renewal_without_an_unknown_outcome()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync();
        var folder = frontEnd.Certificates.Issue(AccessRole.Client, "x");
        await using var log = await GrpcCorfuLog.ConnectAsync(
            $"{frontEnd.Address}?certs={folder}",
            new GrpcLogOptions { Tls = new TlsOptions { RefreshInterval = TimeSpan.FromMilliseconds(20) } });
        var outcomes = new List<AppendOutcome>();
        for (var i = 0; i < 3; i++)
        {
            frontEnd.Certificates.Renew(folder);
            for (var j = 0; j < 100; j++)
            {
                var batch = Enumerable.Range(0, 20).Select(_ => log.AppendAsync(new byte[] { 1 }, []).AsTask());
                outcomes.AddRange((await Task.WhenAll(batch)).Select(static result => result.Outcome));
            }
        }

        Assert.All(outcomes, static outcome => Assert.Equal(AppendOutcome.Appended, outcome));
        Assert.Equal(outcomes.Count, (await log.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Log_client_hears_of_a_missing_right()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(""" "x": { "write": ["stream:a"] } """);
        var folder = frontEnd.Certificates.Issue(AccessRole.Caller, "x");
        await using var log = await GrpcCorfuLog.ConnectAsync($"{frontEnd.Address}?certs={folder}");
        (await log.AppendAsync(new byte[] { 1 }, [StreamId.FromName("a")])).Require();
        await Assert.ThrowsAsync<CorfuDeniedException>(
            async () => await log.AppendAsync(new byte[] { 1 }, [StreamId.FromName("b")]));
        await Assert.ThrowsAsync<CorfuDeniedException>(
            async () => await log.CheckAsync([StreamId.FromName("a")]));
    }

    [Theory]
    [InlineData("http://192.0.2.1:20001", "not encrypted")]
    [InlineData("https://127.0.0.1:20001?cert=x", "certs=DIR")]
    [InlineData("corfus://127.0.0.1:20001", "no address")]
    public async Task Address_that_is_of_no_use_is_refused(string address, string fault)
    {
        var refused = await Assert.ThrowsAsync<FormatException>(() => GrpcCorfuLog.ConnectAsync(address));
        Assert.Contains(fault, refused.Message, StringComparison.Ordinal);
    }

    private static Task<GrpcFrontEnd> StartAsync(ClusterTls tls) => GrpcFrontEnd.StartAsync(
        new GrpcFrontEndOptions(new NodeEndpoint("127.0.0.1", 0), "corfu://127.0.0.1:1") { Tls = tls },
        Microsoft.Extensions.Logging.Abstractions.NullLoggerFactory.Instance);

    private sealed class Denied(string serial) : IDenyList
    {
        public event Action? Changed
        {
            add
            {
            }
            remove
            {
            }
        }

        public bool IsDenied(string other, string issuerKey) => other == serial;
    }
}
