namespace Corfu.Agent;

/// <param name="Answer">Null: there was none.</param>
internal readonly record struct Probe(ProbeSample Sample, Response? Answer);

/// <summary>Sends one request that every healthy node of a role answers, and says what came of it.</summary>
internal sealed class Prober(NodeAddress self, ITransport transport, ClusterView view, TimeProvider time)
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

    public async Task<Probe> ProbeAsync(NodeRole role, NodeAddress address, TimeSpan limit, CancellationToken stopped)
    {
        var began = time.GetTimestamp();
        using var timeout = new CancellationTokenSource(limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, stopped);
        try
        {
            var answer = await SendAsync(role, address, either.Token);
            return new Probe(ProbeSample.Of(StatusOf(answer), time.GetElapsedTime(began)), answer);
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

    private async ValueTask<Response> SendAsync(NodeRole role, NodeAddress address, CancellationToken cancellationToken)
    {
        var epoch = view.Epoch;
        return role switch
        {
            NodeRole.Unit => await transport.CallAsync(address, new UnitInfoRequest(epoch), cancellationToken),
            NodeRole.Sequencer =>
                await transport.CallAsync(address, new SequencerInfoRequest(epoch), cancellationToken),
            NodeRole.Acceptor => await transport.CallAsync(address, new LatestRequest(epoch), cancellationToken),
            _ =>
                await transport.CallAsync(address, new PingRequest(epoch, self, false, view.Automation),
                    cancellationToken),
        };
    }

    private static Status StatusOf(Response answer) => answer switch
    {
        UnitInfoResponse { IsOk: true, Health: UnitHealth.Failed } => Status.Failed,
        UnitInfoResponse { IsOk: true, Health: UnitHealth.ReadOnly } => Status.NoSpace,
        _ => answer.Status,
    };
}
