using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Messaging;
using Orleans.Runtime;

namespace Corfu.Orleans.Clustering;

/// <summary>The gateways that clients may connect to: active silos of the membership table that have a gateway
/// port.</summary>
internal sealed class CorfuGatewayListProvider(CorfuMembershipTable table, IOptions<GatewayOptions> options)
    : IGatewayListProvider
{
    public TimeSpan MaxStaleness => options.Value.GatewayListRefreshPeriod;

    public bool IsUpdatable => true;

    public Task InitializeGatewayListProvider() => InitializeGatewayListProviderAsync(CancellationToken.None);

    public Task InitializeGatewayListProviderAsync(CancellationToken cancellationToken) =>
        table.InitializeMembershipTableAsync(true, cancellationToken);

    public Task<IList<Uri>> GetGateways() => GetGatewaysAsync(CancellationToken.None);

    public async Task<IList<Uri>> GetGatewaysAsync(CancellationToken cancellationToken) =>
        [.. (await table.ReadAllAsync(cancellationToken)).Members
            .Select(static member => member.Item1)
            .Where(static entry => entry.Status == SiloStatus.Active && entry.ProxyPort != 0)
            .Select(static entry => SiloAddress.New(
                entry.SiloAddress.Endpoint.Address, entry.ProxyPort, entry.SiloAddress.Generation).ToGatewayUri())];
}
