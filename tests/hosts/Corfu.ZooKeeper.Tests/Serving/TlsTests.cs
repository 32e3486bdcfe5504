using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Corfu.Protocol;
using Corfu.TestKit;
using Corfu.Transport;
using Corfu.ZooKeeper.Auth;
using Corfu.ZooKeeper.Hosting;
using Corfu.ZooKeeper.Import;
using Tango;
using Tango.Testing;
using WriteRequest = Corfu.ZooKeeper.Wire.WriteRequest;

namespace Corfu.ZooKeeper.Tests.Serving;

/// <summary>TLS of the clients' port.</summary>
public sealed class TlsTests : IDisposable
{
    private static readonly DateTimeOffset s_past = DateTimeOffset.UtcNow.AddHours(-2);

    private readonly TestAuthority _authority = new(new ClusterId(Guid.NewGuid()));
    private readonly TestDenyList _denied = new();
    private readonly ClusterTls _tls;

    public TlsTests()
    {
        _tls = ClusterTls.Open(
            new TlsOptions { Source = new TestSource(_authority.Credentials(AccessRole.Node)) })!;
        _tls.Deny(_denied);
    }

    public void Dispose() => _tls.Dispose();

    [Fact]
    public async Task Subject_of_a_certificate_is_an_identity_of_an_access_control_list()
    {
        await using var server = await StartAsync();
        await using var app = await ConnectAsync(server, Issue("app"));
        Assert.True(await app.TryBeginAsync());
        var own = new CreateOp("/mine", [1], [new AclEntry(Permissions.All, "x509", "CN=app")], CreateFlags.Persistent);
        await app.Stream.WriteAsync(RawClient.FrameOf(1, new WriteRequest(OpCode.Create, own)));
        Assert.Equal(ErrorCode.Ok, RawClient.ErrorIn(await app.ReadFrameAsync()));
        var read = RawClient.FrameOf(2, new NodeRequest(OpCode.GetData, "/mine"));
        await app.Stream.WriteAsync(read);
        Assert.Equal(ErrorCode.Ok, RawClient.ErrorIn(await app.ReadFrameAsync()));
        await using var other = await ConnectAsync(server, Issue("other"));
        Assert.True(await other.TryBeginAsync());
        await other.Stream.WriteAsync(read);
        Assert.Equal(ErrorCode.NoAuth, RawClient.ErrorIn(await other.ReadFrameAsync()));
    }

    [Fact]
    public async Task Client_is_cut_when_the_certificate_is_denied_and_another_goes_on()
    {
        await using var server = await StartAsync();
        var bad = Issue("bad");
        await using var denied = await ConnectAsync(server, bad);
        Assert.True(await denied.TryBeginAsync());
        await using var other = await ConnectAsync(server, Issue("other"));
        Assert.True(await other.TryBeginAsync());
        _denied.Add(bad);
        Assert.Null(await denied.ReadFrameAsync());
        await other.Stream.WriteAsync(RawClient.FrameOf(1, new NodeRequest(OpCode.Exists, "/")));
        Assert.Equal(ErrorCode.Ok, RawClient.ErrorIn(await other.ReadFrameAsync()));
        Assert.False(await IsServedAsync(server, bad));
    }

    [Fact]
    public async Task Certificate_that_has_ended_or_has_no_right_is_refused()
    {
        using var lines = new Lines();
        await using var server = await StartAsync(lines);
        Assert.False(await IsServedAsync(server, Issue("late",
            order: new TestOrder { NotBefore = s_past.AddHours(-1), NotAfter = s_past })));
        Assert.False(await IsServedAsync(server, Issue("caller", AccessRole.Caller)));
        // The client hears of the refusal first.
        await lines.WaitAsync("needs the role client");
        Assert.False(await IsServedAsync(server, null));
        Assert.True(await IsServedAsync(server, Issue("good")));
    }

    [Fact]
    public async Task Plain_client_at_the_port_of_tls_gets_no_answer()
    {
        await using var server = await StartAsync();
        await using var word = await RawClient.ConnectAsync(server.EndPoint);
        await word.Stream.WriteAsync("ruok"u8.ToArray());
        Assert.Null(await word.ReadFrameAsync());
        await using var client = await RawClient.ConnectAsync(server.EndPoint);
        Assert.False(await client.TryBeginAsync());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Import_reads_a_server_with_a_trusted_certificate(bool isTrusted)
    {
        await using var server = await StartAsync();
        await using var runtime = new TangoRuntime(new InMemoryCorfuLog(), ZooKeeperFrontEnd.RuntimeOptions);
        using var certificate = Issue("importer");
        var options = new ImportOptions("127.0.0.1", server.EndPoint.Port)
        {
            Tls = new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                ClientCertificateContext = SslStreamCertificateContext.Create(certificate, null, offline: true),
                RemoteCertificateValidationCallback = (_, _, _, _) => isTrusted,
            },
        };
        if (!isTrusted)
        {
            var refusal = await Assert.ThrowsAnyAsync<CorfuException>(
                () => ZooKeeperImport.OpenAsync(runtime, options));
            Assert.StartsWith("The handshake of TLS failed", refusal.Message, StringComparison.Ordinal);
            return;
        }

        await using var import = await ZooKeeperImport.OpenAsync(runtime, options);
        Assert.NotEqual(0, (await import.CopyAsync()).Read);
    }

    [Theory]
    [InlineData("CN=app", "CN=app")]
    [InlineData("CN=app, OU=Ops, O=Example, C=DE", "CN=app,OU=Ops,O=Example,C=DE")]
    [InlineData("CN=app, O=\"A, B\"", "CN=app,O=A\\, B")]
    public void Subject_has_the_form_of_RFC_2253(string name, string expected)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var certificate = new CertificateRequest(name, key, HashAlgorithmName.SHA256)
            .CreateSelfSigned(DateTimeOffset.UtcNow, DateTimeOffset.UtcNow.AddDays(1));
        Assert.Equal(expected, Credentials.SubjectOf(certificate));
    }

    private X509Certificate2 Issue(string name, AccessRole role = AccessRole.Client, TestOrder? order = null) =>
        _authority.Issue(new CertificateIdentity(_authority.Cluster, role, name), order);

    private Task<TestServer> StartAsync(Lines? lines = null) => TestServer.StartAsync(
        configure: own => own with { Tls = _tls, Loggers = lines ?? own.Loggers });

    private static async Task<RawClient> ConnectAsync(TestServer server, X509Certificate2? certificate)
    {
        var client = await RawClient.ConnectAsync(server.EndPoint);
        await client.EncryptAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            ClientCertificateContext =
                certificate is null ? null : SslStreamCertificateContext.Create(certificate, null, offline: true),
            // The server's certificate is not what these tests look at.
            RemoteCertificateValidationCallback = static (_, _, _, _) => true,
        });
        return client;
    }

    private static async Task<bool> IsServedAsync(TestServer server, X509Certificate2? certificate)
    {
        try
        {
            await using var client = await ConnectAsync(server, certificate);
            return await client.TryBeginAsync();
        }
        catch (Exception e) when (e is IOException or AuthenticationException)
        {
            return false;
        }
    }
}
