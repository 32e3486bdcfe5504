namespace Corfu.Agent;

/// <summary>A sequencer never returns under its identity (R7): when it stops, a standby takes over.</summary>
internal sealed class SequencerRole(ITransport transport, ClusterView view, ProjectionInstaller installer)
    : IWatchedRole
{
    public NodeRole Role => NodeRole.Sequencer;

    public bool ReturnsAfterLeaving => false;

    public bool IsAlwaysSlow => false;

    public bool HoldsData => false;

    public async ValueTask<Response> ProbeAsync(NodeAddress node, CancellationToken cancellationToken) =>
        await transport.CallAsync(node, new SequencerInfoRequest(view.Epoch), cancellationToken);

    public Status StatusOf(Response answer) => answer.Status;

    public void Record(MonitoredNode node, Response answer)
    {
        if (answer is not SequencerInfoResponse { IsOk: true } sequencer) return;
        node.Epoch = sequencer.Epoch;
        view.Hint(sequencer.Epoch);
    }

    public Task CatchUpAsync(MonitoredNode node, CancellationToken stopped) =>
        installer.InstallIfBehindAsync(node, static projection => new BootstrapRequest(projection), stopped);
}
