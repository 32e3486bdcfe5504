namespace Corfu.Detection;

/// <param name="Answer">Null: there was none.</param>
internal readonly record struct Probe(ProbeSample Sample, Response? Answer);

/// <summary>Sends one request that every healthy node of a role answers, and says what came of it.</summary>
internal sealed class Prober(ITransport transport, WatchedRoles roles, TimeProvider time)
{
    /// <summary>Asks a process which roles it serves; null: no answer within the limit.</summary>
    public async Task<NodeDescription?> IdentifyAsync(NodeEndpoint process, TimeSpan limit, CancellationToken stopped)
    {
        using var timeout = new CancellationTokenSource(limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, stopped);
        try
        {
            return await transport.DescribeAsync(process, either.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }

    public async Task<Probe> ProbeAsync(NodeRole name, NodeAddress address, TimeSpan limit, CancellationToken stopped)
    {
        var probe = await SendAsync(name, address, limit, stopped);
        if (probe.Sample.Outcome != ProbeOutcome.None)
            DetectionTelemetry.ProbeTime.Record(probe.Sample.RoundTrip.TotalSeconds,
                "corfu.role".With(name.ToString()), "corfu.outcome".With(probe.Sample.Outcome.ToString()));
        return probe;
    }

    private async Task<Probe> SendAsync(NodeRole name, NodeAddress address, TimeSpan limit, CancellationToken stopped)
    {
        if (roles.Find(name) is not { } role) return new Probe(new ProbeSample(ProbeOutcome.None, default), null);
        var began = time.GetTimestamp();
        using var timeout = new CancellationTokenSource(limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, stopped);
        try
        {
            var answer = await role.ProbeAsync(address, either.Token);
            return new Probe(ProbeSample.Of(role.StatusOf(answer), time.GetElapsedTime(began)), answer);
        }
        catch (TransportException e)
        {
            return new Probe(ProbeSample.Of(e.Fault, time.GetElapsedTime(began)), null);
        }
        catch (OperationCanceledException)
        {
            return new Probe(new ProbeSample(stopped.IsCancellationRequested ? ProbeOutcome.None : ProbeOutcome.Nothing,
                time.GetElapsedTime(began)), null);
        }
    }
}
