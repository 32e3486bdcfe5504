namespace Corfu.Agent;

/// <summary>Gives the newest projection to a node that serves an older epoch, again and again while it is behind
/// (R14).</summary>
internal sealed class ProjectionInstaller(AgentOptions options, ClusterView view, ITransport transport,
    AgentClock clock)
{
    /// <summary>The first time nothing is sent, because the proposer installs an epoch everywhere itself.</summary>
    public async Task InstallIfBehindAsync(MonitoredNode node, Func<Projection, AckRequest> request,
        CancellationToken stopped)
    {
        if (view.Projection is not { } newest || node.Epoch >= newest.Epoch || clock.Now < node.NextInstall) return;
        if (!newest.HasUnit(node.Address.Id) && newest.Sequencer.Id != node.Address.Id) return;
        var isFirst = node.NextInstall == TimeSpan.Zero;
        node.NextInstall = clock.Now + options.SlowInterval;
        if (isFirst) return;
        await transport.TryCallAsync(node.Address, request(newest), options.ProbeTimeout, clock.Time, stopped);
    }
}
