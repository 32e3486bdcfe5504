using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Corfu.Extensions;

/// <summary>Healthy while a linearizable check of the log's tail succeeds: sequencer and a chain answer in the newest epoch.</summary>
internal sealed class CorfuClientHealthCheck(CorfuConnection connection) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        if (connection.Current is not { } client) return new HealthCheckResult(context.Registration.FailureStatus, "The client is not connected.");
        try
        {
            var check = await client.CheckAsync([], ReadConsistency.Linearizable, cancellationToken);
            return HealthCheckResult.Healthy($"The log's tail is {check.Tail}.");
        }
        catch (CorfuException e)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, e.Message, e);
        }
    }
}
