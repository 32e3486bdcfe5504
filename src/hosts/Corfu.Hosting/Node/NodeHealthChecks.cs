using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Corfu.Hosting;

/// <summary>Live: no role has met an error that only a restart can clear.</summary>
internal sealed class NodeLiveCheck(CorfuNodeService service) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context,
        CancellationToken cancellationToken = default)
    {
        var faults = service.Node?.Faults ?? [];
        return Task.FromResult(faults.IsEmpty
            ? HealthCheckResult.Healthy()
            : HealthCheckResult.Unhealthy(string.Join('\n', faults)));
    }
}

/// <summary>Ready: every role is open and the listener takes connections; degraded while a unit's disk is full or
/// nearly. Whether the cluster has a quorum is the
/// clients' to find out.</summary>
internal sealed class NodeReadyCheck(CorfuNodeService service) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context,
        CancellationToken cancellationToken = default)
    {
        if (service.Node is not { } node)
            return Task.FromResult(HealthCheckResult.Unhealthy("The node is not started."));
        var faults = node.Faults.AddRange(node.Stopped);
        if (faults.IsEmpty && node.Warnings is { IsEmpty: false } warnings)
            return Task.FromResult(HealthCheckResult.Degraded(string.Join('\n', warnings)));
        return Task.FromResult(faults.IsEmpty
            ? HealthCheckResult.Healthy($"{node.Name} serves {node.Description.Roles.Length} roles at {node.Endpoint}.")
            : HealthCheckResult.Unhealthy(string.Join('\n', faults)));
    }
}
