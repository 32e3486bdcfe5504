using System.Net;
using System.Net.Security;
using Corfu.Protocol;
using Corfu.TestKit;
using Corfu.Transport;
using Grpc.Net.Client;
using WatchRequest = Corfu.Etcd.Protocol.WatchRequest;

namespace Corfu.Etcd.Tests;

/// <summary>The port of a front end.</summary>
public sealed class PortTests : IAsyncDisposable
{
    private readonly EtcdWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Call_before_the_store_is_open_waits()
    {
        var options = EtcdWorld.OptionsOf();
        await using var port = await EtcdPort.OpenAsync(options, CancellationToken.None);
        using var channel = GrpcChannel.ForAddress($"http://{port.EndPoint}");
        await channel.ConnectAsync();
        var put = new KV.KVClient(channel).PutAsync(Put("a", "1")).ResponseAsync;
        var (frontEnd, runtime) = await _world.StartAsync(options, port);
        await using var _ = runtime;
        await using var __ = frontEnd;
        Assert.Equal(2, (await put).Header.Revision);
    }

    [Fact]
    public async Task Stream_that_waits_for_a_store_ends_with_the_port()
    {
        var port = await EtcdPort.OpenAsync(EtcdWorld.OptionsOf(), CancellationToken.None);
        using var channel = GrpcChannel.ForAddress($"http://{port.EndPoint}");
        using var watch = new Watch.WatchClient(channel).Watch();
        await watch.RequestStream.WriteAsync(new WatchRequest());
        var next = watch.ResponseStream.MoveNext(CancellationToken.None);
        await port.DisposeAsync();
        var failure = await Assert.ThrowsAsync<RpcException>(() => next);
        Assert.DoesNotContain("no leader", failure.Status.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(AccessRole.Caller, false)]
    [InlineData(AccessRole.Client, true)]
    [InlineData(AccessRole.Node, true)]
    public async Task Certificate_of_a_caller_reaches_no_key(AccessRole role, bool isServed)
    {
        var authority = new TestAuthority(new ClusterId(Guid.NewGuid()));
        using var tls = ClusterTls.Open(
            new TlsOptions { Source = new TestSource(authority.Credentials(AccessRole.Node)) })!;
        var (frontEnd, runtime) = await _world.StartAsync(EtcdWorld.OptionsOf() with { Tls = tls }, null);
        await using var _ = runtime;
        await using var __ = frontEnd;
        using var own = authority.Issue(new CertificateIdentity(authority.Cluster, role, "one"));
        using var handler = NewHandler();
        var address = new Uri($"https://{frontEnd.EndPoint}");
        using var channel = GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler });
        using var http = new HttpClient(NewHandler()) { BaseAddress = address };
        var keys = new KV.KVClient(channel);
        using var json = new StringContent("""{"key":"YQ=="}""");
        if (isServed)
        {
            Assert.Equal(2, (await keys.PutAsync(Put("a", "1"))).Header.Revision);
            using var told = await http.PostAsync(new Uri("/v3/kv/range", UriKind.Relative), json);
            Assert.Equal(HttpStatusCode.OK, told.StatusCode);
            return;
        }

        Assert.Equal((StatusCode.PermissionDenied, "etcdserver: permission denied"),
            await FailureOf(keys.PutAsync(Put("a", "1"))));
        using var refused = await http.PostAsync(new Uri("/v3/kv/range", UriKind.Relative), json);
        Assert.Equal(HttpStatusCode.Forbidden, refused.StatusCode);
        Assert.Contains("permission denied", await refused.Content.ReadAsStringAsync(), StringComparison.Ordinal);

        SocketsHttpHandler NewHandler() => new()
        {
            SslOptions = new SslClientAuthenticationOptions
            {
                ClientCertificateContext = SslStreamCertificateContext.Create(own, null, offline: true),
                // The server's certificate is not what the test looks at.
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
            },
        };
    }
}
