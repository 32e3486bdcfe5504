using Corfu.Client;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Tango;

namespace Corfu.Extensions;

/// <summary>Healthy while a linearizable check of the log's tail succeeds: sequencer and a chain answer in the newest
/// epoch.</summary>
internal sealed class CorfuClientHealthCheck(CorfuConnection connection, TimeProvider time) : IHealthCheck
{
    // The check connects if no other code has: traffic may wait for this check.
    public Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context, CancellationToken cancellationToken = default) =>
        BoundedCheck.RunAsync(context, time, async limit =>
        {
            var client = await connection.GetClientAsync(limit);
            return $"The log's tail is {(await client.CheckAsync([], cancellationToken: limit)).Tail}.";
        }, cancellationToken);
}

/// <summary>A health check answers within a second; an operation tries for as long as its own time-out.</summary>
internal static class BoundedCheck
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(0.9);

    /// <param name="operation">Returns the description of a healthy result.</param>
    public static async Task<HealthCheckResult> RunAsync(HealthCheckContext context, TimeProvider time,
        Func<CancellationToken, Task<string>> operation, CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(Limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        var failure = context.Registration.FailureStatus;
        try
        {
            return HealthCheckResult.Healthy(await operation(either.Token).WaitAsync(either.Token));
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return new HealthCheckResult(failure, "The cluster did not answer in time.");
        }
        catch (Exception e) when (e is CorfuException or TangoException)
        {
            return new HealthCheckResult(failure, e.Message, e);
        }
    }
}
