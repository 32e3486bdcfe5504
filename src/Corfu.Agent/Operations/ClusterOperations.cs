using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent;

/// <summary>
/// What is done to a running cluster, by the agent or by an operator. Each operation is one or more reconfigurations,
/// may be started by any number of processes at once, and asks for nothing that is already so: calling it again after
/// an error or a crash finishes it. Appends go on when the first reconfiguration is decided; what is left for the
/// background (joining replicas) is in the projection and is the rebuilder's.
/// </summary>
/// <param name="client">Its projection is the starting point and is brought up to date.</param>
public sealed partial class ClusterOperations(CorfuClient client, ITransport transport, TimeProvider time,
    ClusterOperationsOptions? options = null)
{
    private readonly ClusterOperationsOptions _options = options ?? new ClusterOperationsOptions();

    /// <summary>A unit that is gone for good leaves every chain; the chains get shorter. Its identity never returns
    /// (R2).</summary>
    /// <returns>The projection in force, without the unit.</returns>
    /// <exception cref="ReconfigurationException">
    /// A chain would have no full replica left (R14), or the unit behind it in a chain, which must answer (R13), does
    /// not.
    /// </exception>
    public Task<Projection> DropUnitAsync(NodeId unit, string reason, CancellationToken cancellationToken = default) =>
        client.ReconfigureAsync(p => p.HasUnit(unit) ? Membership.Of(p).Without(unit) : null, reason,
            cancellationToken);

    /// <summary>
    /// A unit that is gone for good leaves every chain and a spare takes its place (TOCS 2.5, Fig. 5 B): new appends go
    /// on at once, with as many replicas as before, in a new segment; in closed ranges the spare is joining, to be
    /// rebuilt (C).
    /// </summary>
    /// <param name="spares">Freshly formatted units, in the order of preference; the first that answers is
    /// taken.</param>
    /// <returns>The projection in force, without the unit.</returns>
    /// <exception cref="ReconfigurationException">As <see cref="DropUnitAsync"/>; or no spare is usable, and nothing is
    /// changed.</exception>
    public async Task<Projection> ReplaceUnitAsync(
        NodeId unit, ImmutableArray<NodeAddress> spares, string reason, CancellationToken cancellationToken = default)
    {
        var usable = await FindSparesAsync(spares, cancellationToken);
        return await client.ReconfigureAsync(
            p =>
            {
                if (!p.HasUnit(unit)) return null;
                var spare = usable.FirstOrDefault(s => !p.HasUnit(s.Id));
                if (spare == default)
                    throw new ReconfigurationException(
                        $"None of {spares.Length} spares is usable in place of unit {unit}.");
                return Membership.Of(p).WithReplaced(unit, spare);
            },
            reason,
            cancellationToken);
    }

    /// <summary>The epoch goes on with the first standby that answers (R7); stream tails are loaded lazily, no log is
    /// scanned.</summary>
    /// <param name="failed">The incarnation to be replaced: nothing is changed when another one is named by
    /// now.</param>
    /// <exception cref="ReconfigurationException">No standby answers, or a unit that must be sealed does
    /// not.</exception>
    public async Task<Projection> ReplaceSequencerAsync(
        NodeId failed, ImmutableArray<NodeAddress> standbys, string reason,
        CancellationToken cancellationToken = default)
    {
        var answers = await ProbeAsync(standbys, s => new SequencerInfoRequest(Epoch.None), static (_, r) => r.IsOk,
            cancellationToken);
        return await client.ReconfigureAsync(
            p =>
            {
                if (p.Sequencer.Id != failed) return null;
                var standby = answers.FirstOrDefault(s => s.Id != failed);
                if (standby == default)
                    throw new ReconfigurationException($"None of {standbys.Length} standby sequencers answers.");
                return Membership.Of(p).WithSequencer(standby);
            },
            reason,
            cancellationToken);
    }

    /// <summary>Those of the spares that answer and are freshly formatted (R2), in the order given. Whoever joins is
    /// checked again under its seal.</summary>
    /// <param name="all">Whether each one gets the whole time-out, instead of a moment once another has
    /// answered.</param>
    public Task<ImmutableArray<NodeAddress>> FindSparesAsync(
        ImmutableArray<NodeAddress> spares, CancellationToken cancellationToken = default, bool all = false) =>
        ProbeAsync(
            spares,
            _ => new UnitInfoRequest(Epoch.None),
#if PLANTED
            static (_, r) => r.IsOk && (r.End == LogPosition.Zero || Planted.Is("removed-units-return")),
#else
            static (_, r) => r.IsOk && r.End == LogPosition.Zero,
#endif
            cancellationToken,
            all);

    private async Task<ImmutableArray<NodeAddress>> ProbeAsync<TResponse>(
        ImmutableArray<NodeAddress> nodes, Func<NodeAddress, Request<TResponse>> request,
        Func<NodeAddress, TResponse, bool> usable, CancellationToken cancellationToken,
        bool all = false)
        where TResponse : Response
    {
        using var timeout = new CancellationTokenSource(_options.ProbeTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        var probes = nodes.Select(ProbeOneAsync).ToList();
        var pending = probes.ToList();
        while (pending.Count > 0)
        {
            var done = await Task.WhenAny(pending);
            pending.Remove(done);

            // One is enough to go on; the others, perhaps better ones, get a moment and not the whole time-out.
            if (await done && !all) timeout.CancelAfter(_options.ProbeGrace);
        }

        cancellationToken.ThrowIfCancellationRequested();
        var found = ImmutableArray.CreateBuilder<NodeAddress>();
        for (var i = 0; i < probes.Count; i++)
        {
            if (await probes[i]) found.Add(nodes[i]);
        }

        return found.DrainToImmutable();

        async Task<bool> ProbeOneAsync(NodeAddress node)
        {
            try
            {
                return usable(node, await transport.CallAsync(node, request(node), either.Token));
            }
            catch (Exception e) when (e is TransportException or OperationCanceledException)
            {
                return false;
            }
        }
    }
}
