using Corfu.Protocol;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Tango;

namespace Corfu.Extensions;

/// <summary>Healthy while the runtime can play the log up to its tail.</summary>
internal sealed class TangoHealthCheck(TangoHost host) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        if (host.Current is not { } runtime) return HealthCheckResult.Healthy("The runtime is not in use yet.");
        try
        {
            await runtime.SyncAsync(cancellationToken);
            return HealthCheckResult.Healthy($"Played up to {runtime.PlayedTo}.");
        }
        catch (Exception e) when (e is CorfuException or TangoException)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, e.Message, e);
        }
    }
}
