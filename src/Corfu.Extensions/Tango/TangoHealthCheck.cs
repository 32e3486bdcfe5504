using Corfu.Protocol;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Tango;

namespace Corfu.Extensions;

/// <summary>Healthy while the runtime can play the log up to its tail.</summary>
internal sealed class TangoHealthCheck(TangoHost host, TimeProvider time) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context,
        CancellationToken cancellationToken = default)
    {
        if (host.Current is not { } runtime) return HealthCheckResult.Healthy("The runtime is not in use yet.");
        using var timeout = new HealthTimeout(time, cancellationToken);
        try
        {
            await runtime.SyncAsync(timeout.Token).AsTask().WaitAsync(timeout.Token);
            return HealthCheckResult.Healthy($"Played up to {runtime.PlayedTo}.");
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, HealthTimeout.Message);
        }
        catch (Exception e) when (e is CorfuException or TangoException)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, e.Message, e);
        }
    }
}
