using Corfu.Agent;
using Corfu.Client;
using Corfu.Client.Layout;

namespace Corfu.Hosting;

/// <summary>Brings a cluster whose nodes listen to the point where it serves: the first projection of a new one, a new
/// sequencer's take-over otherwise. Every step is idempotent: cut short anywhere, it may be begun again by any
/// process.</summary>
internal sealed class ClusterBootstrap(
    ClusterManifest manifest, ITransport transport, LayoutClient layout, TimeProvider time, ILogger logger)
{
    // Agents take out what does not serve; until they have, the units behind it cannot all be sealed (R13).
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);

    private readonly Reconfigurer _reconfigurer = new(transport, layout, time, logger);

    /// <param name="takesUnitsIn">Whether units that the folder means to take entries, and that wait, are taken
    /// in.</param>
    public static async Task RunAsync(ClusterFolder folder, ILoggerFactory loggers, TimeProvider clock,
        CancellationToken cancellationToken, bool takesUnitsIn = false)
    {
        var present = folder.WithPresent().Manifest;
        using var activity = HostingTelemetry.Activities.StartActivity("corfu.hosting.bootstrap");
        var logger = loggers.CreateLogger<TcpTransport>();
        using var tls = folder.OpenTls(logger);
        using var connections = new TcpTransport(
            new TcpTransportOptions { Cluster = present.ClusterId, Tls = tls }, clock, logger: logger);
        var relocating = new RelocatingTransport(connections, present.Locate);
        var bootstrap = new ClusterBootstrap(present, relocating,
            new LayoutClient(relocating, SystemEntropy.Instance, clock), clock,
            loggers.CreateLogger<ClusterBootstrap>());
        var projection = await bootstrap.RunAsync(cancellationToken);
        folder.MarkStarted();
        if (takesUnitsIn) await bootstrap.TakeInAsync(projection, present.ChainUnits(), cancellationToken);
    }

    private async Task<Projection> RunAsync(CancellationToken cancellationToken)
    {
        var sequencers = await FindSequencersAsync(cancellationToken);
        var latest = await layout.FindLatestAsync(manifest.AllAcceptors(), cancellationToken);
        if (latest is null)
        {
            if (manifest.Started)
                throw new NodeStartException(
                    "No layout acceptor that answers knows the cluster's projection: start those that do.");
            latest = await CreateAsync(sequencers[0], cancellationToken);
            HostingLog.Bootstrapped(logger, latest.Cluster, latest.Epoch, latest.Sequencer.Id);
        }

        latest = await MoveAsync(latest, cancellationToken);
        // Also where nothing changes: what this projection's nodes missed is installed again.
        var before = latest.Epoch;
        latest = await TakeOverAsync(latest, sequencers, cancellationToken);
        if (latest.Epoch > before)
        {
            HostingTelemetry.Reconfigurations.Add(1);
            HostingLog.SequencerReplaced(logger, latest.Sequencer.Id, latest.Epoch);
        }

        return latest;
    }

    /// <summary>Names moved nodes in the projection. They report it themselves, but clients that connect next must not
    /// wait for that.</summary>
    private async Task<Projection> MoveAsync(Projection latest, CancellationToken cancellationToken)
    {
        ImmutableArray<NodeAddress> moved = [.. from named in latest.Units.Concat(latest.Acceptors).Distinct()
            let endpoint = manifest.Locate(named.Id)
            where endpoint is not null && endpoint != named.Endpoint
            select named with { Endpoint = endpoint.Value }];
        if (moved.IsEmpty) return latest;
        await using var client = new ClusterClient(latest, transport, time, SystemEntropy.Instance);
        var operations = new ClusterOperations(client, transport, time);
        var reason = new ReconfigurationReason(false, "cluster up", $"{moved.Length} nodes moved").ToString();
        try
        {
            return await operations.MoveNodesAsync(moved, reason, cancellationToken);
        }
        catch (ReconfigurationException)
        {
            // A moved node does not run: each of the others reports its move by itself.
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
        await using var client = new ClusterClient(current, transport, time, SystemEntropy.Instance);
        var operations = new ClusterOperations(client, transport, time);
        var fresh = await operations.FindSparesAsync(waiting, cancellationToken, all: true);
        // A unit that was removed formats itself anew, and agents take it in then.
        if (fresh.IsEmpty) return;
        var reason = new ReconfigurationReason(false, "cluster up", $"{units.Length} units").ToString();
        await operations.AddUnitsAsync([.. fresh.Take(units.Length - active)], reason, cancellationToken);
    }

    private async Task<Projection> TakeOverAsync(Projection latest, ImmutableArray<NodeAddress> sequencers,
        CancellationToken cancellationToken)
    {
        var began = time.GetTimestamp();
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
            catch (ReconfigurationException e) when (time.GetElapsedTime(began) < Patience)
            {
                if (await FindLostUnitAsync(latest, cancellationToken) is { } lost)
                    throw new ReconfigurationException($"Unit {lost} was the last of its chain. {e.Message}");
                await Task.Delay(Pause, time, cancellationToken);
                latest = await layout.ReadLatestAsync(latest.Acceptors, cancellationToken) ?? latest;
            }
        }
    }

    /// <summary>Null unless every unit of a chain says that it will never serve again: agents cannot mend
    /// that.</summary>
    private async Task<string?> FindLostUnitAsync(Projection latest, CancellationToken cancellationToken)
    {
        foreach (var chain in latest.Active.Chains)
        {
            string? lost = null;
            foreach (var replica in chain.Replicas)
            {
                var reason = await FindFailureAsync(latest.AddressOf(replica.Unit), cancellationToken);
                lost = reason is null ? null : $"{replica.Unit} ({reason})";
                if (lost is null) break;
            }

            if (lost is not null) return lost;
        }

        return null;
    }

    private async Task<string?> FindFailureAsync(NodeAddress unit, CancellationToken cancellationToken)
    {
        try
        {
            var info = await transport.CallAsync(unit, new UnitInfoRequest(Epoch.None), cancellationToken);
            return info.Status == Status.Failed ? info.Reason : null;
        }
        catch (TransportException)
        {
            // The unit does not run, and may be whole.
            return null;
        }
    }

    // The sequencers that answer. A single one is enough; agents choose successors.
    private async Task<ImmutableArray<NodeAddress>> FindSequencersAsync(CancellationToken cancellationToken)
    {
        var found = ImmutableArray.CreateBuilder<NodeAddress>();
        var trouble = "";
        foreach (var endpoint in manifest.SequencerEndpoints())
        {
            try
            {
                var description = await transport.DescribeAsync(endpoint, cancellationToken);
                var role = description.Roles.FirstOrDefault(role => role.Role == NodeRole.Sequencer);
                if (description.Cluster != manifest.ClusterId)
                    trouble = $"The process at {endpoint} belongs to the cluster {description.Cluster}, not "
                        + $"{manifest.ClusterId}.";
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
        var units = manifest.ChainUnits();
        var chains = ClusterPlacement.Chains([.. units.Select(unit => unit.Id)], manifest.Replicas);
        return _reconfigurer.CreateAsync(manifest.ClusterId, sequencer, chains, [.. units.OrderBy(unit => unit.Id)],
            manifest.Acceptors(), cancellationToken);
    }
}
