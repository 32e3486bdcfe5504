using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Messaging;
using Orleans.Runtime;
using Tango;

namespace Corfu.Orleans.Clustering;

/// <summary>The gateways that clients may connect to: active silos of the membership table that have a gateway
/// port.</summary>
/// <remarks>A client creates no table: one for a misspelt cluster would stay in the log for good. Until the first silo
/// has created it there are no gateways.</remarks>
internal sealed partial class CorfuGatewayListProvider(
    CorfuOrleansRuntime runtime, ObjectNames names, IOptions<CorfuOrleansOptions> shared,
    IOptions<GatewayOptions> options, TimeProvider time, ILogger<CorfuGatewayListProvider> logger)
    : IGatewayListProvider
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(200);

    private readonly SharedObject<MembershipObject> _table =
        new(runtime, names.Membership(names.ClusterId), OpenMode.Existing);

    public TimeSpan MaxStaleness => options.Value.GatewayListRefreshPeriod;

    public bool IsUpdatable => true;

    public Task InitializeGatewayListProvider() => InitializeGatewayListProviderAsync(CancellationToken.None);

    /// <summary>Waits for the table, for as long as the client's start waits for the log: clients and silos are often
    /// started together.</summary>
    public async Task InitializeGatewayListProviderAsync(CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        while (await FindAsync(cancellationToken) is null)
        {
            if (time.GetElapsedTime(start) >= shared.Value.ConnectTimeout)
            {
                LogNoTable(_table.Name, names.ClusterId);
                return;
            }

            await Task.Delay(s_pause, time, cancellationToken);
        }
    }

    public Task<IList<Uri>> GetGateways() => GetGatewaysAsync(CancellationToken.None);

    public async Task<IList<Uri>> GetGatewaysAsync(CancellationToken cancellationToken) =>
        [.. ((await FindAsync(cancellationToken))?.Members ?? [])
            .Select(static member => member.Row.ToEntry())
            .Where(static entry => entry.Status == SiloStatus.Active && entry.ProxyPort != 0)
            .Select(static entry => SiloAddress.New(
                entry.SiloAddress.Endpoint.Address, entry.ProxyPort, entry.SiloAddress.Generation).ToGatewayUri())];

    /// <returns>Null: no silo of the cluster has been there.</returns>
    private async Task<MembershipView?> FindAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await _table.RunAsync(
                "Reading the gateways", table => table.AllAsync(cancellationToken), cancellationToken);
        }
        catch (CorfuOrleansException e) when (e.InnerException is TangoObjectNotFoundException)
        {
            return null;
        }
    }

    [LoggerMessage(LogLevel.Warning, "The log has no membership table '{Name}': no silo of cluster '{Cluster}' was "
        + "ever started there. Is the cluster's id right?")]
    private partial void LogNoTable(string name, string cluster);
}
