using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Corfu.Protocol;
using Corfu.Security.Tests.Support;
using Corfu.TestKit;
using Corfu.Transport;

namespace Corfu.Security.Tests.Certificates;

/// <summary>Peers that speak something else into the cluster's port: no certificate, other protocols, no TLS at all.
/// </summary>
[Collection(BadCertificateTests.Name)]
public sealed class WrongProtocolTests
{
    private static readonly ClusterId Cluster = new(new Guid("5b3f6a0e-1c1d-4f0e-9a55-0c1d2e3f4a5b"));

    private readonly TestAuthority _authority = new(Cluster);

    [Fact]
    public async Task Client_without_a_certificate_is_refused_and_told()
    {
        using var observed = new Observed("corfu.server.refused");
        await using var server = await StartAsync(observed);
        using var stream = await ConnectAsync(server, new SslClientAuthenticationOptions
        {
            ApplicationProtocols = [ClusterTls.Protocol],
        });
        await stream.WriteAsync(HelloBytes());
        var told = await ReadToEndAsync(stream);
        Assert.Contains("it sent no certificate", told);
        await observed.LineAsync("it sent no certificate");
        await observed.CountAsync("reason=certificate");
    }

    [Fact]
    public async Task Client_without_the_name_of_the_protocol_is_refused()
    {
        using var observed = new Observed("corfu.server.refused");
        await using var server = await StartAsync(observed);
        using var stream = await ConnectAsync(server, new SslClientAuthenticationOptions
        {
            ClientCertificateContext = _authority.Credentials(AccessRole.Client).Context,
        });
        await stream.WriteAsync(HelloBytes());
        Assert.Contains("ALPN", await ReadToEndAsync(stream));
        await observed.LineAsync("ALPN");
    }

    [Fact]
    public async Task Client_of_another_protocol_is_refused()
    {
        using var observed = new Observed("corfu.server.refused");
        await using var server = await StartAsync(observed);
        await Assert.ThrowsAnyAsync<Exception>(() => ConnectAsync(server, new SslClientAuthenticationOptions
        {
            ApplicationProtocols = [SslApplicationProtocol.Http2],
            ClientCertificateContext = _authority.Credentials(AccessRole.Client).Context,
        }));
        await observed.LineAsync("TLS handshake failed");
        await observed.CountAsync("reason=TLS handshake");
    }

    [Fact]
    public async Task Client_with_an_older_version_of_TLS_is_refused()
    {
        using var observed = new Observed("corfu.server.refused");
        await using var server = await StartAsync(observed);
        await Assert.ThrowsAnyAsync<Exception>(() => ConnectAsync(server, new SslClientAuthenticationOptions
        {
            ApplicationProtocols = [ClusterTls.Protocol],
            EnabledSslProtocols = SslProtocols.Tls12,
            ClientCertificateContext = _authority.Credentials(AccessRole.Client).Context,
        }));
        await observed.LineAsync("TLS handshake failed");
        await observed.CountAsync("reason=TLS handshake");
    }

    [Fact]
    public async Task Plain_client_of_a_server_with_TLS_learns_to_use_TLS()
    {
        using var observed = new Observed("corfu.server.refused");
        await using var server = await StartAsync(observed);
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = Cluster });
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
        Assert.Contains("corfus://", refused.Message);
        await observed.LineAsync("it speaks without TLS");
        await observed.CountAsync("reason=plain connection");
    }

    [Fact]
    public async Task Client_with_TLS_of_a_plain_server_never_falls_back()
    {
        using var observed = new Observed("corfu.server.dropped");
        await using var server = await TlsServer.StartAsync(Cluster, null, observed);
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = Cluster, Tls = Client() });
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
        Assert.Contains("TLS", refused.Message);
        await observed.LineAsync("speaks TLS");
        await observed.CountAsync("reason=damaged frame");
    }

    [Fact]
    public async Task Server_in_transition_takes_both_kinds()
    {
        using var observed = new Observed("corfu.server.refused");
        var tls = new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node)), TlsMode.Both);
        await using var server = await TlsServer.StartAsync(Cluster, tls, observed);
        using var plain = new TcpTransport(new TcpTransportOptions { Cluster = Cluster });
        using var encrypted = new TcpTransport(new TcpTransportOptions { Cluster = Cluster, Tls = Client() });
        Assert.Equal(Cluster, (await plain.DescribeAsync(server.Endpoint, default)).Cluster);
        Assert.Equal(Cluster, (await encrypted.DescribeAsync(server.Endpoint, default)).Cluster);
        Assert.Empty(observed.Lines);
    }

    private ClusterTls Client() => new(new TestSource(_authority.Credentials(AccessRole.Client)));

    private Task<TlsServer> StartAsync(Observed observed) => TlsServer.StartAsync(Cluster,
        new ClusterTls(new TestSource(_authority.Credentials(AccessRole.Node))), observed);

    private static async Task<SslStream> ConnectAsync(TlsServer server, SslClientAuthenticationOptions options)
    {
        options.TargetHost = "localhost";
        options.RemoteCertificateValidationCallback = (_, _, _, _) => true;
        var client = new TcpClient();
        await client.ConnectAsync(server.Endpoint.Host, server.Endpoint.Port);
        var stream = new SslStream(client.GetStream());
        await stream.AuthenticateAsClientAsync(options);
        return stream;
    }

    private static byte[] HelloBytes()
    {
        var hello = new byte[Hello.Size];
        new Hello(1, 2, Cluster, NodeId.None).Write(hello);
        return hello;
    }

    private static async Task<string> ReadToEndAsync(SslStream stream)
    {
        using var all = new MemoryStream();
        try
        {
            await stream.CopyToAsync(all);
        }
        catch (IOException)
        {
            // The server closes after its answer.
        }

        return System.Text.Encoding.UTF8.GetString(all.ToArray());
    }
}
