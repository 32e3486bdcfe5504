using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client.Tests;

public class ConnectionTests
{
    [Theory]
    [InlineData("corfu://localhost:7001", 1)]
    [InlineData("corfu://a:1,b:2, c:3/", 3)]
    [InlineData("corfu://[::1]:7001,127.0.0.1:7001", 2)]
    [InlineData("corfu://a:1,a:1", 1)]
    public void A_connection_string_names_endpoints(string text, int count) =>
        Assert.Equal(count, ConnectionString.Parse(text).Endpoints.Length);

    [Theory]
    [InlineData("localhost:7001", "starts with corfu://")]
    [InlineData("http://localhost:7001", "starts with corfu://")]
    [InlineData("corfu://", "Endpoint 1")]
    [InlineData("corfu://a:1,b", "Endpoint 2 of the connection string, 'b'")]
    [InlineData("corfu://a:0", "port from 1 to 65535")]
    [InlineData("corfu://a:70000", "port from 1 to 65535")]
    [InlineData("corfu://a:1?certs=/x", "'certs=/x' means nothing")]
    [InlineData("corfus://a:1?insecure", "'insecure' means nothing")]
    [InlineData("corfus://a:1?certs=", "'certs=' means nothing")]
    [InlineData("corfus://a:1?cluster=7", "'cluster=7' means nothing")]
    [InlineData("corfu://a:1?x", "'x' means nothing")]
    public void Malformed_connection_string_names_the_fault(string text, string what)
    {
        var error = Assert.Throws<FormatException>(() => ConnectionString.Parse(text));
        Assert.Contains(what, error.Message);
    }

    [Theory]
    [InlineData("corfus://a:1,b:2")]
    [InlineData("corfus://a:1?certs=/etc/corfu&cluster=5ad7c2f6-9d0c-4b7e-8e55-6a4f3c1f7a10")]
    [InlineData("corfus://a:1?certs=/a%26b%25c d")]
    [InlineData("corfu://10.0.0.1:1?insecure")]
    public void Connection_string_is_written_as_read(string text)
    {
        var connection = ConnectionString.Parse(text);
        Assert.Equal(text, connection.ToString());
        Assert.Equal(text.StartsWith("corfus", StringComparison.Ordinal), connection.IsTls);
    }

    [Theory]
    [InlineData("corfu://10.0.0.1:1", "corfus://")]
    [InlineData("corfu://127.0.0.1:1,example.org:1", "?insecure")]
    [InlineData("corfus://127.0.0.1:1", "corfu cert issue")]
    [InlineData("corfus://127.0.0.1:1?certs=/nowhere", "/nowhere")]
    public async Task Connection_that_would_not_be_encrypted_or_has_no_certificate_is_refused(string text, string what)
    {
        var error = await Assert.ThrowsAsync<CertificateException>(() => CorfuClient.ConnectAsync(text));
        Assert.Contains(what, error.Message);
    }

    private static Task<CorfuClient> ConnectAsync(TestCluster cluster, params NodeAddress[] nodes) =>
        CorfuClient.ConnectAsync(
        new ConnectionString([.. nodes.Select(n => n.Endpoint)]), cluster.Transport, TimeProvider.System,
        new SeededEntropy(9),
        TestCluster.Options with { Layout = new() { MaxAttempts = 2, RoundTimeout = TimeSpan.FromMilliseconds(200) } });

    [Fact]
    public async Task Any_acceptor_leads_to_the_newest_projection()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2, acceptors: 3);
        var sequencer = cluster.AddSequencer();
        await cluster.Client().Cluster
            .ReconfigureAsync(p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer), "test");
        await using var client = await ConnectAsync(cluster, cluster.Units[0], cluster.Acceptors[1]);
        Assert.Equal(new Epoch(2), client.Projection.Epoch);
        Assert.True((await client.AppendAsync("x"u8.ToArray(), [])).IsAppended);
    }

    [Fact]
    public async Task Connection_without_an_acceptor_fails_with_a_list_of_the_roles_found()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var nowhere = new NodeAddress(NodeId.None, new NodeEndpoint("nowhere", 1));
        var error =
            await Assert.ThrowsAsync<ClusterNotFoundException>(() => ConnectAsync(cluster, cluster.Units[0], nowhere));
        Assert.Contains("test:7001: roles Unit", error.Message);
        Assert.Contains("nowhere:1: connection refused", error.Message);
    }

    [Fact]
    public async Task A_cluster_that_was_never_started_is_told_from_one_that_does_not_answer()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1, acceptors: 1);
        var fresh = cluster.AddAcceptor();
        var error = await Assert.ThrowsAsync<ClusterNotFoundException>(() => ConnectAsync(cluster, fresh));
        Assert.Contains("never started", error.Message);

        // A standby knows nothing; who is silent may.
        error =
            await Assert.ThrowsAsync<ClusterNotFoundException>(
                () => ConnectAsync(cluster, fresh, new NodeAddress(default, new NodeEndpoint("127.0.0.1", 9))));
        Assert.Contains("127.0.0.1:9", error.Message);
        Assert.DoesNotContain("never started", error.Message);
        cluster.Transport.Faults = (_, _) => new(Fault.RequestLost);
        error = await Assert.ThrowsAsync<ClusterNotFoundException>(() => ConnectAsync(cluster, cluster.Acceptors[0]));
        Assert.Contains("not available", error.Message);
    }

    [Fact]
    public void Options_report_all_faults_at_once()
    {
        var options = new CorfuClientOptions { MaxPayload = 0, ChecksInFlight = 0, HoleWait = TimeSpan.Zero };
        var error = Assert.Throws<ArgumentException>(options.Validate);
        foreach (var name in (string[])[nameof(options.MaxPayload), nameof(options.ChecksInFlight),
            nameof(options.HoleWait)])
            Assert.Contains(name + " is 0: it must be ", error.Message);
    }

    /// <summary>Nothing here waits for a time-out: a frozen process must not cost one.</summary>
    [Fact]
    public async Task A_frozen_acceptor_is_not_waited_for()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2, acceptors: 3);
        var frozen = new TaskCompletionSource<Fault>(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Faults = (to, _) => to.Id == cluster.Acceptors[0].Id ? new(frozen.Task) : new(Fault.None);
        var patient = TestCluster.Options with { Layout = new() { RoundTimeout = TimeSpan.FromHours(1) } };
        await using var client = await CorfuClient.ConnectAsync(
            new ConnectionString([cluster.Acceptors[0].Endpoint, cluster.Acceptors[2].Endpoint]), cluster.Transport,
            TimeProvider.System, new SeededEntropy(9), patient);
        Assert.True((await client.AppendAsync("x"u8.ToArray(), [])).IsAppended);
        Assert.Equal(Epoch.First, (await client.Cluster.RefreshAsync()).Epoch);
        frozen.SetResult(Fault.Refused);
    }

    // A standby without a projection answered, the other acceptors within the moment that it leaves them did not.
    [Fact]
    public async Task Standby_that_answers_first_does_not_hide_a_slow_acceptor()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1, acceptors: 1);
        var standby = cluster.AddAcceptor();
        var slow = cluster.Acceptors[0].Endpoint;
        await using var client = await CorfuClient.ConnectAsync(new ConnectionString([standby.Endpoint, slow]),
            new SlowAtFirst(cluster.Transport, slow), TimeProvider.System, new SeededEntropy(9), TestCluster.Options);
        Assert.Equal(Epoch.First, client.Projection.Epoch);
    }

    private sealed class SlowAtFirst(ITransport inner, NodeEndpoint slow) : TransportWrapper(inner)
    {
        private bool _wasAsked;

        public override async ValueTask<NodeDescription> DescribeAsync(
            NodeEndpoint endpoint, CancellationToken cancellationToken)
        {
            if (endpoint == slow && !_wasAsked)
            {
                _wasAsked = true;
                await Task.Delay(Timeout.Infinite, cancellationToken);
            }

            return await base.DescribeAsync(endpoint, cancellationToken);
        }
    }
}
