using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Corfu.Extensions;

/// <summary>Healthy while a linearizable check of the log's tail succeeds: sequencer and a chain answer in the newest
/// epoch.</summary>
internal sealed class CorfuClientHealthCheck(CorfuConnection connection, TimeProvider time) : IHealthCheck
{
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context,
        CancellationToken cancellationToken = default)
    {
        if (connection.Current is not { } client)
            return new HealthCheckResult(context.Registration.FailureStatus, "The client is not connected.");
        using var timeout = new HealthTimeout(time, cancellationToken);
        try
        {
            var check = await client.CheckAsync([], ReadConsistency.Linearizable, timeout.Token).AsTask()
                .WaitAsync(timeout.Token);
            return HealthCheckResult.Healthy($"The log's tail is {check.Tail}.");
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, HealthTimeout.Message);
        }
        catch (CorfuException e)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, e.Message, e);
        }
    }
}

/// <summary>
/// The time that a health check may take. An operation goes on for as long as its own time-out while the cluster is
/// away; whoever asks for the health of a service wants an answer now.
/// </summary>
internal sealed class HealthTimeout : IDisposable
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(0.9);

    public const string Message = "The cluster did not answer in time.";

    private readonly CancellationTokenSource _limit;
    private readonly CancellationTokenSource _either;

    public HealthTimeout(TimeProvider time, CancellationToken cancellationToken)
    {
        _limit = new CancellationTokenSource(Limit, time);
        _either = CancellationTokenSource.CreateLinkedTokenSource(_limit.Token, cancellationToken);
    }

    public CancellationToken Token => _either.Token;

    public void Dispose()
    {
        _either.Dispose();
        _limit.Dispose();
    }
}
