using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Corfu.Extensions;

/// <summary>Healthy while a node answers. Whether a chain takes writes shows with its writes.</summary>
internal sealed class CraqClientHealthCheck(CraqConnection connection, TimeProvider time) : IHealthCheck
{
    // The check connects if no other code has: traffic may wait for this check.
    public Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context, CancellationToken cancellationToken = default) =>
        BoundedCheck.RunAsync(context, time, async limit =>
        {
            await (await connection.GetClientAsync(limit)).PingAsync(limit);
            return "A node answers.";
        }, cancellationToken);
}
