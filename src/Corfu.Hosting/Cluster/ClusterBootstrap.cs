using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;

namespace Corfu.Hosting;

/// <summary>
/// Brings a cluster whose nodes listen to the point where it serves: the first projection of a new one, a new sequencer's take-over
/// otherwise. Every step is idempotent, so that it may be cut short anywhere and begun again, by anybody.
/// </summary>
internal sealed class ClusterBootstrap
{
    private readonly ClusterManifest _manifest;
    private readonly TcpTransport _transport;
    private readonly LayoutClient _layout;
    private readonly ILogger _logger;

    private ClusterBootstrap(ClusterManifest manifest, TcpTransport transport, LayoutClient layout, ILogger logger)
    {
        _manifest = manifest;
        _transport = transport;
        _layout = layout;
        _logger = logger;
    }

    /// <returns>The projection that is served.</returns>
    public static async Task<Projection> RunAsync(
        ClusterManifest manifest, ILoggerFactory loggers, TimeProvider time, CancellationToken cancellationToken)
    {
        using var activity = HostingTelemetry.Activities.StartActivity("bootstrap cluster");
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = manifest.ClusterId }, time, logger: loggers.CreateLogger<TcpTransport>());
        var layout = new LayoutClient(transport, SystemEntropy.Instance, time);
        var bootstrap = new ClusterBootstrap(manifest, transport, layout, loggers.CreateLogger<ClusterBootstrap>());
        return await bootstrap.RunAsync(cancellationToken);
    }

    private async Task<Projection> RunAsync(CancellationToken cancellationToken)
    {
        var sequencer = await FindSequencerAsync(cancellationToken);
        var latest = await _layout.ReadLatestAsync(_manifest.Acceptors(), cancellationToken);
        if (latest is null)
        {
            latest = await _layout.ProposeFirstAsync(First(sequencer), cancellationToken);
            HostingLog.Bootstrapped(_logger, latest.Cluster, latest.Epoch, latest.Sequencer.Id);
        }

        if (latest.Sequencer.Id != sequencer.Id)
        {
            latest = await new SequencerReplacement(_transport, _layout).RunAsync(latest, sequencer, cancellationToken);
            HostingTelemetry.Reconfigurations.Add(1);
            HostingLog.SequencerReplaced(_logger, latest.Sequencer.Id, latest.Epoch);
        }

        await InstallAsync(latest, cancellationToken);
        return latest;
    }

    private async Task<NodeAddress> FindSequencerAsync(CancellationToken cancellationToken)
    {
        var endpoint = _manifest.SequencerEndpoint();
        var description = await _transport.DescribeAsync(endpoint, cancellationToken);
        if (description.Cluster != _manifest.ClusterId)
            throw new NodeStartException($"The process at {endpoint} belongs to the cluster {description.Cluster}, not {_manifest.ClusterId}.");
        var role = description.Roles.FirstOrDefault(role => role.Role == NodeRole.Sequencer);
        return role.Id.IsNone ? throw new NodeStartException($"The process at {endpoint} runs no sequencer.") : new NodeAddress(role.Id, endpoint);
    }

    private Projection First(NodeAddress sequencer)
    {
        var units = _manifest.ChainUnits();
        var chains = ClusterPlacement.Chains([.. units.Select(unit => unit.Id)], _manifest.Replicas);
        return new Projection(
            _manifest.ClusterId,
            Epoch.First,
            sequencer,
            LogPosition.Zero,
            LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, chains)],
            [.. units.OrderBy(unit => unit.Id)],
            _manifest.Acceptors(),
            "the cluster was made");
    }

    // R14: idempotent, from the projection alone. Clients do it too where they meet a node that lacks it.
    private async Task InstallAsync(Projection projection, CancellationToken cancellationToken)
    {
        var calls = projection.Units
            .Select(unit => (unit, Request: (Request<AckResponse>)new InstallRequest(projection)))
            .Append((projection.Sequencer, new BootstrapRequest(projection)));
        foreach (var (node, task) in calls.Select(call => (call.Item1, _transport.CallAsync(call.Item1, call.Item2, cancellationToken))).ToArray())
        {
            var answer = await task;
            // Sealed: somebody has begun a newer epoch, which is theirs to install.
            if (!answer.IsOk && answer.Status != Status.Sealed) throw CorfuException.FromStatus(answer.Status, $"{node} refuses {projection.Epoch}");
        }
    }
}
