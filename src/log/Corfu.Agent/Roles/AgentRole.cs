namespace Corfu.Agent;

/// <summary>The ping between agents: their heartbeat. It also carries the processes that they know, whether agents act
/// on their own, and denied certificates.</summary>
internal sealed class AgentRole(NodeAddress self, ITransport transport, ClusterView view, Targets targets,
    Denials denials) : IWatchedRole
{
    public NodeRole Role => NodeRole.Agent;

    public bool ReturnsAfterLeaving => true;

    public bool IsAlwaysSlow => false;

    public bool HoldsData => false;

    public async ValueTask<Response> ProbeAsync(NodeAddress node, CancellationToken cancellationToken) =>
        await transport.CallAsync(
            node, new PingRequest(view.Epoch, self, false, view.Automation) { DeniedDigest = denials.List.Digest },
            cancellationToken);

    public Status StatusOf(Response answer) => answer.Status;

    public void Record(MonitoredNode node, Response answer)
    {
        if (answer is not PingResponse { IsOk: true } ping) return;
        view.Hint(ping.Epoch);
        view.Adopt(ping.Automation);
        denials.Merge(ping.Denied);
        foreach (var process in ping.Peers) targets.AddProcess(process);
    }

    public Task CatchUpAsync(MonitoredNode node, CancellationToken stopped) => Task.CompletedTask;
}
