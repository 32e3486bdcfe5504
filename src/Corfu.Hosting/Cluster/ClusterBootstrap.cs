using System.Collections.Immutable;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;

namespace Corfu.Hosting;

/// <summary>
/// Brings a cluster whose nodes listen to the point where it serves: the first projection of a new one, a new
/// sequencer's take-over otherwise. Every step is idempotent: cut short anywhere, it may be begun again by any process.
/// </summary>
internal sealed class ClusterBootstrap
{
    // Agents take out what does not serve; until they have, the units behind it cannot all be sealed (R13).
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);

    private readonly ClusterManifest _manifest;
    private readonly TimeProvider _time;
    private readonly RelocatingTransport _transport;
    private readonly LayoutClient _layout;
    private readonly Reconfigurer _reconfigurer;
    private readonly ILogger _logger;

    private ClusterBootstrap(ClusterManifest manifest, TcpTransport transport, TimeProvider time, ILogger logger)
    {
        _manifest = manifest;
        _time = time;
        _transport = new RelocatingTransport(transport, manifest.Locate);
        _layout = new LayoutClient(_transport, SystemEntropy.Instance, time);
        _reconfigurer = new Reconfigurer(_transport, _layout, time, logger);
        _logger = logger;
    }

    /// <param name="takesUnitsIn">Whether units that the folder means to take entries, and that wait, are taken
    /// in.</param>
    public static async Task RunAsync(
        ClusterFolder folder, ILoggerFactory loggers, TimeProvider time, CancellationToken cancellationToken,
        bool takesUnitsIn = false)
    {
        var manifest = folder.WithPresent().Manifest;
        using var activity = HostingTelemetry.Activities.StartActivity("corfu.hosting.bootstrap");
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = manifest.ClusterId }, time,
            logger: loggers.CreateLogger<TcpTransport>());
        var bootstrap = new ClusterBootstrap(manifest, transport, time, loggers.CreateLogger<ClusterBootstrap>());
        var projection = await bootstrap.RunAsync(cancellationToken);
        folder.MarkStarted();
        if (takesUnitsIn) await bootstrap.TakeInAsync(projection, manifest.ChainUnits(), cancellationToken);
    }

    private async Task<Projection> RunAsync(CancellationToken cancellationToken)
    {
        var sequencers = await FindSequencersAsync(cancellationToken);
        var latest = await _layout.FindLatestAsync(_manifest.AllAcceptors(), cancellationToken);
        if (latest is null)
        {
            if (_manifest.Started)
                throw new NodeStartException(
                    "No layout acceptor that answers knows the cluster's projection: start those that do.");
            latest = await CreateAsync(sequencers[0], cancellationToken);
            HostingLog.Bootstrapped(_logger, latest.Cluster, latest.Epoch, latest.Sequencer.Id);
        }

        latest = await MoveAsync(latest, cancellationToken);
        // Also where nothing changes: what this projection's nodes missed is installed again.
        var before = latest.Epoch;
        latest = await TakeOverAsync(latest, sequencers, cancellationToken);
        if (latest.Epoch > before)
        {
            HostingTelemetry.Reconfigurations.Add(1);
            HostingLog.SequencerReplaced(_logger, latest.Sequencer.Id, latest.Epoch);
        }

        return latest;
    }

    /// <summary>Nodes that have moved say so themselves; clients that connect next must not have to wait for
    /// it.</summary>
    private async Task<Projection> MoveAsync(Projection latest, CancellationToken cancellationToken)
    {
        ImmutableArray<NodeAddress> moved = [.. from named in latest.Units.Concat(latest.Acceptors).Distinct()
            let endpoint = _manifest.Locate(named.Id)
            where endpoint is not null && endpoint != named.Endpoint
            select named with { Endpoint = endpoint.Value }];
        if (moved.IsEmpty) return latest;
        await using var client = new CorfuClient(latest, _transport, _time, SystemEntropy.Instance);
        var operations = new ClusterOperations(client, _transport, _time);
        var reason = new ReconfigurationReason(false, "cluster up", $"{moved.Length} nodes moved").ToString();
        try
        {
            return await operations.MoveNodesAsync(moved, reason, cancellationToken);
        }
        catch (ReconfigurationException)
        {
            // One does not run: each of the others does it by itself.
            return latest;
        }
    }

    private async Task TakeInAsync(Projection current, ImmutableArray<NodeAddress> units,
        CancellationToken cancellationToken)
    {
        var active = current.Active.Chains.SelectMany(chain => chain.Replicas).Select(replica => replica.Unit)
            .Distinct().Count();
        ImmutableArray<NodeAddress> waiting = [.. units.Where(unit => !current.HasUnit(unit.Id))];
        if (active >= units.Length || waiting.IsEmpty) return;
        await using var client = new CorfuClient(current, _transport, _time, SystemEntropy.Instance);
        var operations = new ClusterOperations(client, _transport, _time);
        var fresh = await operations.FindSparesAsync(waiting, cancellationToken, all: true);
        // A unit that was removed formats itself anew, and agents take it in then.
        if (fresh.IsEmpty) return;
        var reason = new ReconfigurationReason(false, "cluster up", $"{units.Length} units").ToString();
        await operations.AddUnitsAsync([.. fresh.Take(units.Length - active)], reason, cancellationToken);
    }

    private async Task<Projection> TakeOverAsync(Projection latest, ImmutableArray<NodeAddress> sequencers,
        CancellationToken cancellationToken)
    {
        var began = _time.GetTimestamp();
        while (true)
        {
            try
            {
                return await _reconfigurer.ReconfigureAsync(
                    latest,
                    current => sequencers.Any(running => running.Id == current.Sequencer.Id)
                        ? null
                        : Membership.Of(current).WithSequencer(sequencers[0]),
                    new ReconfigurationReason(false, "cluster up", "a sequencer was started").ToString(),
                    cancellationToken);
            }
            catch (ReconfigurationException) when (_time.GetElapsedTime(began) < Patience)
            {
                await Task.Delay(Pause, _time, cancellationToken);
                latest = await _layout.ReadLatestAsync(latest.Acceptors, cancellationToken) ?? latest;
            }
        }
    }

    // Those that run. One is enough; which one is the next otherwise is the agents' business.
    private async Task<ImmutableArray<NodeAddress>> FindSequencersAsync(CancellationToken cancellationToken)
    {
        var found = ImmutableArray.CreateBuilder<NodeAddress>();
        var trouble = "";
        foreach (var endpoint in _manifest.SequencerEndpoints())
        {
            try
            {
                var description = await _transport.DescribeAsync(endpoint, cancellationToken);
                var role = description.Roles.FirstOrDefault(role => role.Role == NodeRole.Sequencer);
                if (description.Cluster != _manifest.ClusterId)
                    trouble = $"The process at {endpoint} belongs to the cluster {description.Cluster}, not "
                        + $"{_manifest.ClusterId}.";
                else if (role.Id.IsNone) trouble = $"The process at {endpoint} runs no sequencer.";
                else found.Add(new NodeAddress(role.Id, endpoint));
            }
            catch (TransportException e)
            {
                trouble = e.Message;
            }
        }

        return found.Count > 0 ? found.DrainToImmutable() : throw new NodeStartException(trouble);
    }

    private Task<Projection> CreateAsync(NodeAddress sequencer, CancellationToken cancellationToken)
    {
        var units = _manifest.ChainUnits();
        var chains = ClusterPlacement.Chains([.. units.Select(unit => unit.Id)], _manifest.Replicas);
        return _reconfigurer.CreateAsync(
            _manifest.ClusterId, sequencer, chains, [.. units.OrderBy(unit => unit.Id)], _manifest.Acceptors(),
            cancellationToken);
    }
}
