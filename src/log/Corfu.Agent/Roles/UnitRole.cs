namespace Corfu.Agent;

internal sealed class UnitRole(ITransport transport, ClusterView view, ProjectionInstaller installer, Renewal renewal)
    : IWatchedRole
{
    public NodeRole Role => NodeRole.Unit;

    public bool ReturnsAfterLeaving => true;

    public bool IsAlwaysSlow => false;

    public bool HoldsData => true;

    public async ValueTask<Response> ProbeAsync(NodeAddress node, CancellationToken cancellationToken) =>
        await transport.CallAsync(node, new UnitInfoRequest(view.Epoch), cancellationToken);

    public Status StatusOf(Response answer) => answer switch
    {
        UnitInfoResponse { IsOk: true, Health: UnitHealth.Failed } => Status.Failed,
        UnitInfoResponse { IsOk: true, Health: UnitHealth.ReadOnly } => Status.NoSpace,
        _ => answer.Status,
    };

    public void Record(MonitoredNode node, Response answer)
    {
        if (answer is not UnitInfoResponse unit) return;
        node.Says = unit.Reason;
        if (!unit.IsOk) return;
        node.Epoch = unit.Installed;
        node.IsFresh = unit.Installed == Epoch.None && unit.Pages == 0 && unit.End == LogPosition.Zero;
        view.Hint(unit.Installed);
        if (view.Projection?.HasUnit(node.Address.Id) == true) renewal.Saw(unit.SealedBelow, node.Address.Endpoint);
    }

    public Task CatchUpAsync(MonitoredNode node, CancellationToken stopped) =>
        installer.InstallIfBehindAsync(node, static projection => new InstallRequest(projection), stopped);
}
