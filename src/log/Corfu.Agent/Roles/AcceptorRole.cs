namespace Corfu.Agent;

internal sealed class AcceptorRole(ITransport transport, ClusterView view) : IWatchedRole
{
    public NodeRole Role => NodeRole.Acceptor;

    public bool ReturnsAfterLeaving => true;

    public bool IsAlwaysSlow => true;

    public bool HoldsData => false;

    public async ValueTask<Response> ProbeAsync(NodeAddress node, CancellationToken cancellationToken) =>
        await transport.CallAsync(node, new LatestRequest(view.Epoch), cancellationToken);

    public Status StatusOf(Response answer) => answer.Status;

    public void Record(MonitoredNode node, Response answer)
    {
        if (answer is LayoutResponse { Latest: { } latest }) view.Hint(latest.Epoch);
    }

    public Task CatchUpAsync(MonitoredNode node, CancellationToken stopped) => Task.CompletedTask;
}
