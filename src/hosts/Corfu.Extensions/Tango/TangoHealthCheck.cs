using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Corfu.Extensions;

/// <summary>Healthy while the runtime can play the log up to its tail.</summary>
internal sealed class TangoHealthCheck(TangoHost host, TimeProvider time) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context,
        CancellationToken cancellationToken = default)
    {
        if (host.Current is not { } runtime) return HealthCheckResult.Healthy("The runtime is not in use yet.");
        return await BoundedCheck.RunAsync(context, time, PlayAsync, cancellationToken);

        async Task<string> PlayAsync(CancellationToken limit)
        {
            await runtime.SyncAsync(limit);
            return $"Played up to {runtime.Log.PlayedTo}.";
        }
    }
}
