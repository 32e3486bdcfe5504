using Corfu.Orleans.Tests.Support;
using Orleans.Runtime;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

public sealed class GatewayListTests : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task Gateways_are_the_active_silos_that_have_a_gateway_port()
    {
        await using var silo = new TestSilo(_log);
        var gateway = Silos.NewEntry(SiloStatus.Active, proxyPort: 30001);
        foreach (var entry in new[]
        {
            Silos.NewEntry(), gateway, Silos.NewEntry(SiloStatus.Active, proxyPort: 0), Silos.NewEntry(SiloStatus.Dead),
        })
        {
            Assert.True(await silo.Membership.InsertAsync(entry, (await silo.Membership.AllAsync()).Version.Next()));
        }

        var gateways = silo.NewGateways(TimeSpan.FromSeconds(7));
        await gateways.InitializeGatewayListProviderAsync(CancellationToken.None);

        var expected = SiloAddress.New(
            gateway.SiloAddress.Endpoint.Address, 30001, gateway.SiloAddress.Generation).ToGatewayUri();
        Assert.Equal(expected, Assert.Single(await gateways.GetGatewaysAsync(CancellationToken.None)));
        Assert.Equal(TimeSpan.FromSeconds(7), gateways.MaxStaleness);
    }

    [Fact]
    public async Task Client_of_a_cluster_that_never_was_finds_no_gateways_and_creates_no_object()
    {
        await using var client = new TestSilo(_log, clusterId: "misspelt");
        var gateways = client.NewGateways(TimeSpan.FromSeconds(7));

        await _log.Time.AdvanceUntilAsync(
            gateways.InitializeGatewayListProviderAsync(CancellationToken.None), TimeSpan.FromSeconds(1));

        Assert.Empty(await gateways.GetGatewaysAsync(CancellationToken.None));
        Assert.Empty(await client.Runtime.Directory.ListAsync());
    }

    [Fact]
    public async Task Client_that_starts_first_waits_for_the_table_of_the_silos()
    {
        await using var client = new TestSilo(_log);
        var gateways = client.NewGateways(TimeSpan.FromSeconds(7));
        var starting = gateways.InitializeGatewayListProviderAsync(CancellationToken.None);
        await using var silo = new TestSilo(_log);
        Assert.False(starting.IsCompleted);
        await silo.Membership.InsertAsync(
            Silos.NewEntry(SiloStatus.Active), (await silo.Membership.AllAsync()).Version.Next());

        await _log.Time.AdvanceUntilAsync(starting);

        Assert.Single(await gateways.GetGatewaysAsync(CancellationToken.None));
    }
}
