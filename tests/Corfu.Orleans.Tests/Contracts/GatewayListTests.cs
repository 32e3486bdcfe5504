using Corfu.Orleans.Clustering;
using Corfu.Orleans.Tests.Support;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
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

        var gateways = new CorfuGatewayListProvider((CorfuMembershipTable)silo.Membership,
            Options.Create(new GatewayOptions { GatewayListRefreshPeriod = TimeSpan.FromSeconds(7) }));
        await gateways.InitializeGatewayListProvider();

        var expected = SiloAddress.New(
            gateway.SiloAddress.Endpoint.Address, 30001, gateway.SiloAddress.Generation).ToGatewayUri();
        Assert.Equal(expected, Assert.Single(await gateways.GetGateways()));
        Assert.Equal(TimeSpan.FromSeconds(7), gateways.MaxStaleness);
    }
}
