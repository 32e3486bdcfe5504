using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Corfu.Protocol;
using Corfu.Security.Tests.Support;
using Corfu.TestKit;
using Corfu.Transport;

namespace Corfu.Security.Tests.Certificates;

/// <summary>Every kind of bad certificate, at either side of the cluster's port. Its holder and its peer hear why, and
/// the server counts it.</summary>
[Collection(Name)]
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class BadCertificateTests
{
    /// <summary>Instruments count for the process, so that these tests run alone.</summary>
    public const string Name = "bad certificates";

    private const string Refused = "corfu.server.refused";

    private static readonly ClusterId Cluster = new(new Guid("5b3f6a0e-1c1d-4f0e-9a55-0c1d2e3f4a5b"));
    private static readonly Certificate Ca = Certificate.Authority();

    private static readonly Dictionary<string, (Func<string, Certificate> Make, string Reason)> Bad = new()
    {
        ["expired"] = (role => Of(role, plan => plan with
        {
            From = TimeSpan.FromDays(-100),
            Until = TimeSpan.FromDays(-10),
        }), "the certificate ended at"),
        ["not yet valid"] = (role => Of(role, plan => plan with
        {
            From = TimeSpan.FromHours(1),
            Until = TimeSpan.FromDays(1),
        }), "the certificate is valid from"),
        ["other authority"] = (role => Of(role, plan => plan with { Issuer = Certificate.Authority("Other CA") }),
            "leads to no certificate of the other side's ca.pem"),
        ["other authority of the same name"] =
            (role => Of(role, plan => plan with { Issuer = Certificate.Authority() }), "certificate"),
        ["other cluster"] = (role => Of(role, plan => plan with
        {
            Uris = [$"corfu://{Guid.NewGuid()}/{role}/a"],
        }), "the certificate is for cluster"),
        ["two identities"] = (role => Of(role, plan => plan with
        {
            Uris = [.. plan.Uris, $"corfu://{Cluster}/{role}/b"],
        }), "names 2 identities"),
        ["no identity"] = (role => Of(role, plan => plan with { Uris = ["https://example.org/"] }),
            "names no identity of Corfu"),
        ["malformed identity"] = (role => Of(role, plan => plan with { Uris = [$"corfu://{Cluster}/root/a"] }),
            "is malformed"),
        ["gap in the chain"] = (role => Of(role, plan => plan with
        {
            Issuer = Certificate.Authority("Intermediate", Ca),
        }), "with its intermediates"),
        ["authority as identity"] = (role => Of(role, plan => plan with { IsAuthority = true }),
            "the certificate is an authority's"),
        ["no signatures"] = (role => Of(role, plan => plan with
        {
            KeyUsage = X509KeyUsageFlags.KeyEncipherment,
        }), "lacks digital signatures"),
        ["wrong use"] = (role => Of(role, plan => plan with
        {
            Uses = ["1.3.6.1.5.5.7.3.4"],
        }), "extended key usage"),
    };

    public static TheoryData<string> Kinds => [.. Bad.Keys];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Client_with_a_bad_certificate_is_refused_and_both_sides_say_why(string kind)
    {
        using var observed = new Observed(Refused);
        await using var server = await TlsServer.StartAsync(Cluster, Tls(Good("node")), observed);
        using var transport = Client(Tls(Bad[kind].Make("client")));
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
        Assert.Contains(Bad[kind].Reason, refused.Message);
        await observed.LineAsync(Bad[kind].Reason);
        await observed.CountAsync("reason=certificate");
        await RequireServesAsync(server);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Server_with_a_bad_certificate_is_refused_and_the_client_says_why(string kind)
    {
        using var observed = new Observed(Refused);
        await using var server = await TlsServer.StartAsync(Cluster, Tls(Bad[kind].Make("node")), observed);
        using var transport = Client(Tls(Good("client")));
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
        Assert.Contains(Bad[kind].Reason, refused.Message);
        // TLS does not tell the server why.
        await observed.LineAsync("refuses this node's certificate");
        await observed.CountAsync("reason=TLS handshake");
    }

    /// <summary>TLS of the system takes no such key, so the rule itself is asked.</summary>
    [Theory]
    [InlineData(1024, false)]
    [InlineData(2048, true)]
    public void Weak_key_is_refused(int bits, bool isAccepted)
    {
        using var key = RSA.Create(bits);
        using var tls = Tls(Good("node"));
        var weak = Of("client", plan => plan with { Key = key }).WithoutKey;
        var verdict = tls.Verify(weak, [], server: false);
        Assert.Equal(isAccepted, verdict.Peer is not null);
        if (!isAccepted) Assert.Contains("key is weak", verdict.Reason);
    }

    [Fact]
    public async Task Server_that_is_no_node_is_refused()
    {
        using var observed = new Observed(Refused);
        var admin = Of("admin", plan => plan with { Uses = [Certificate.ServerUse, Certificate.ClientUse] });
        await using var server = await TlsServer.StartAsync(Cluster, Tls(admin), observed);
        using var transport = Client(Tls(Good("client")));
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
        Assert.Contains("a server must be a node", refused.Message);
        await observed.CountAsync("reason=TLS handshake");
    }

    [Fact]
    public async Task Caller_is_refused_at_the_port_of_the_cluster()
    {
        using var observed = new Observed(Refused);
        await using var server = await TlsServer.StartAsync(Cluster, Tls(Good("node")), observed);
        using var transport = Client(Tls(Good("caller")));
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
        Assert.Contains("caller", refused.Message);
        await observed.LineAsync("caller");
    }

    [Fact]
    public async Task Denied_client_is_refused_and_open_connections_end()
    {
        using var observed = new Observed(Refused);
        var denied = new TestDenyList();
        using var tls = Tls(Good("node"));
        tls.Deny(denied);
        await using var server = await TlsServer.StartAsync(Cluster, tls, observed);
        var holder = Good("client");
        using var transport = Client(Tls(holder));
        await transport.DescribeAsync(server.Endpoint, default);

        denied.Add(holder.WithoutKey);
        var refused = await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
        Assert.Contains("revoked", refused.Message);
        Assert.Contains(holder.WithoutKey.SerialNumber, refused.Message);
        await observed.LineAsync("revoked");
        await observed.CountAsync("reason=certificate");
        await RequireServesAsync(server);
    }

    [Fact]
    public async Task Intermediate_that_is_sent_closes_the_gap()
    {
        using var observed = new Observed(Refused);
        await using var server = await TlsServer.StartAsync(Cluster, Tls(Good("node")), observed);
        var intermediate = Certificate.Authority("Intermediate", Ca);
        var leaf = Of("client", plan => plan with { Issuer = intermediate });
        using var transport = Client(Tls(leaf, intermediate.WithoutKey));
        await transport.DescribeAsync(server.Endpoint, default);
    }

    [Theory]
    [InlineData(3, true)]
    [InlineData(8, false)]
    public async Task Certificate_of_a_node_counts_for_a_week_after_the_end(int daysAgo, bool isAccepted)
    {
        using var observed = new Observed(Refused);
        var late = Of("node", plan => plan with
        {
            From = TimeSpan.FromDays(-90),
            Until = TimeSpan.FromDays(-daysAgo),
        });
        await using var server = await TlsServer.StartAsync(Cluster, Tls(late), observed);
        using var clientLog = new Observed(Refused);
        using var transport = Client(Tls(Good("client"), logger: clientLog));
        if (isAccepted)
        {
            await transport.DescribeAsync(server.Endpoint, default);
            await clientLog.LineAsync("counts a few days longer");
            return;
        }

        await Assert.ThrowsAsync<TransportException>(
            async () => await transport.DescribeAsync(server.Endpoint, default));
    }

    private static async Task RequireServesAsync(TlsServer server)
    {
        using var good = Client(Tls(Good("client")));
        Assert.Equal(Cluster, (await good.DescribeAsync(server.Endpoint, default)).Cluster);
    }

    private static Certificate Good(string role) => Of(role, plan => plan);

    private static Certificate Of(string role, Func<Certificate.Plan, Certificate.Plan> change) =>
        Certificate.Make(change(Certificate.Plan.Of(Ca, Cluster, role, "a")));

    private static ClusterTls Tls(Certificate own, X509Certificate2? intermediate = null,
        Microsoft.Extensions.Logging.ILogger? logger = null)
    {
        // A process refuses its own bad certificate when it reads the folder; here it is told what it has.
        var identity = new CertificateIdentity(Cluster, AccessRole.Client, "a");
        X509Certificate2Collection further = intermediate is null ? [] : [intermediate];
        return new ClusterTls(
            new TestSource(new TlsCredentials(own.WithKey, further, [Ca.WithoutKey], identity)), logger: logger);
    }

    private static TcpTransport Client(ClusterTls tls) =>
        new(new TcpTransportOptions { Cluster = Cluster, Tls = tls });
}
