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
/// sequencer's take-over otherwise. Every step is idempotent, so that it may be cut short anywhere and begun again, by
/// anybody.
/// </summary>
internal sealed class ClusterBootstrap
{
    // Agents take out what does not serve; until they have, the units behind it cannot all be sealed (R13).
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);

    private readonly ClusterManifest _manifest;
    private readonly TimeProvider _time;
    private readonly TcpTransport _transport;
    private readonly LayoutClient _layout;
    private readonly Reconfigurer _reconfigurer;
    private readonly ILogger _logger;

    private ClusterBootstrap(ClusterManifest manifest, TcpTransport transport, TimeProvider time, ILogger logger)
    {
        _manifest = manifest;
        _time = time;
        _transport = transport;
        _layout = new LayoutClient(transport, SystemEntropy.Instance, time);
        _reconfigurer = new Reconfigurer(transport, _layout, time, logger);
        _logger = logger;
    }

    /// <param name="takesUnitsIn">Whether units that the folder means to take entries, and that wait, are taken
    /// in.</param>
    /// <returns>The projection that is served.</returns>
    public static async Task<Projection> RunAsync(
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
        return takesUnitsIn
            ? await bootstrap.TakeInAsync(projection, manifest.ChainUnits(), cancellationToken)
            : projection;
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

    private async Task<Projection> TakeInAsync(Projection current, ImmutableArray<NodeAddress> units,
        CancellationToken cancellationToken)
    {
        var active = current.Active.Chains.SelectMany(chain => chain.Replicas).Select(replica => replica.Unit)
            .Distinct().Count();
        ImmutableArray<NodeAddress> waiting = [.. units.Where(unit => !current.HasUnit(unit.Id))];
        if (active >= units.Length || waiting.IsEmpty) return current;
        await using var client = new CorfuClient(current, _transport, _time, SystemEntropy.Instance);
        var operations = new ClusterOperations(client, _transport, _time);
        var fresh = await operations.FindSparesAsync(waiting, cancellationToken, all: true);
        // A unit that was removed formats itself anew, and agents take it in then.
        if (fresh.IsEmpty) return current;
        var reason = new ReconfigurationReason(false, "cluster up", $"{units.Length} units").ToString();
        return await operations.AddUnitsAsync([.. fresh.Take(units.Length - active)], reason, cancellationToken);
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

    // Those that run. One is enough; whose turn it is otherwise is the agents' business.
    private async Task<ImmutableArray<NodeAddress>> FindSequencersAsync(CancellationToken cancellationToken)
    {
        var found = ImmutableArray.CreateBuilder<NodeAddress>();
        NodeStartException? trouble = null;
        foreach (var endpoint in _manifest.SequencerEndpoints())
        {
            try
            {
                found.Add(await FindSequencerAsync(endpoint, cancellationToken));
            }
            catch (NodeStartException e)
            {
                trouble = e;
            }
            catch (TransportException e)
            {
                trouble = new NodeStartException(e.Message, e);
            }
        }

        return found.Count > 0 ? found.DrainToImmutable() : throw trouble!;
    }

    private async Task<NodeAddress> FindSequencerAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        var description = await _transport.DescribeAsync(endpoint, cancellationToken);
        if (description.Cluster != _manifest.ClusterId)
            throw new NodeStartException(
                $"The process at {endpoint} belongs to the cluster {description.Cluster}, not {_manifest.ClusterId}.");
        var role = description.Roles.FirstOrDefault(role => role.Role == NodeRole.Sequencer);
        return role.Id.IsNone
            ? throw new NodeStartException($"The process at {endpoint} runs no sequencer.")
            : new NodeAddress(role.Id, endpoint);
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
