using Microsoft.Extensions.Diagnostics.HealthChecks;
using Salus.Coordination;

namespace Corfu.Extensions;

/// <summary>Healthy while the log answers and a node is registered. How a volume is shows with its calls, and with the
/// figure <c>salus.volume.health</c> of the nodes.</summary>
internal sealed class SalusClientHealthCheck(SalusHostConnection connection, TimeProvider time) : IHealthCheck
{
    // The check connects if no other code has: traffic may wait for this check.
    public Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context, CancellationToken cancellationToken = default) =>
        BoundedCheck.RunAsync(context, time, async limit =>
        {
            var nodes = await (await connection.GetClientAsync(limit)).Log.Admin.NodesAsync(limit);
            var live = nodes.Stores.Values.Count(static node => node.State == BookedState.Live);
            return live > 0
                ? $"{live} nodes are registered."
                : throw new CorfuException("No node is registered: volumes cannot be used. Start the nodes.");
        }, cancellationToken);
}
