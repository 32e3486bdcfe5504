namespace Corfu.Agent;

/// <summary>An operator's changes of a running cluster. Each operation is one or more reconfigurations. Any number of
/// processes may start it at once, and calling it again after an error or a crash finishes it. Appends go on when the
/// first reconfiguration is decided. Joining replicas are in the projection; the rebuilder brings them up to
/// date.</summary>
/// <param name="client">The client whose projection is the starting point; brought up to date.</param>
public sealed partial class ClusterOperations(ClusterClient client, ITransport transport, TimeProvider time)
{
    // Time for the other nodes to answer, once one has answered.
    private static readonly TimeSpan ProbeGrace = TimeSpan.FromMilliseconds(5);

    /// <summary>Nodes that take longer to answer are passed over, or refused where they were named. Default: half a
    /// second, for programs that try again.</summary>
    public TimeSpan ProbeTimeout { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>A unit that is gone for good leaves every chain, which gets shorter. The unit never returns.</summary>
    /// <returns>The projection in force, without the unit.</returns>
    /// <exception cref="ReconfigurationException">A chain would have no full replica left, or the unit behind it
    /// in a chain, which must answer, does not.</exception>
    public Task<Projection> DropUnitAsync(NodeId unit, string reason, CancellationToken cancellationToken = default) =>
        client.ReconfigureAsync(p => p.HasUnit(unit) ? Membership.Of(p).Without(unit) : null, reason,
            cancellationToken);

    /// <summary>A unit that is gone for good leaves every chain and a spare takes its place (TOCS 2.5, Fig. 5 B): new
    /// appends go on at once, with as many replicas as before, in a new segment; in closed ranges the spare is joining,
    /// to be rebuilt (C).</summary>
    /// <param name="spares">Freshly formatted units; the first that answers is taken.</param>
    /// <returns>The projection in force, without the unit.</returns>
    /// <exception cref="ReconfigurationException">As <see cref="DropUnitAsync"/>; or no spare is usable.</exception>
    public async Task<Projection> ReplaceUnitAsync(
        NodeId unit, ImmutableArray<NodeAddress> spares, string reason, CancellationToken cancellationToken = default)
    {
        var usable = await FindSparesAsync(spares, cancellationToken);
        return await client.ReconfigureAsync(
            p =>
            {
                if (!p.HasUnit(unit)) return null;
                return FirstUnused(usable, p) is { } spare
                    ? Membership.Of(p).WithReplaced(unit, spare)
                    : throw new ReconfigurationException(
                        $"None of {spares.Length} spares is usable in place of unit {unit}.");
            },
            reason,
            cancellationToken);
    }

    /// <summary>The next epoch begins with the first standby that answers; no log is scanned.</summary>
    /// <param name="failed">The incarnation to be replaced. If the projection does not name it any more, nothing is
    /// changed.</param>
    /// <exception cref="ReconfigurationException">No standby, or no unit that must be sealed, answers.</exception>
    public async Task<Projection> ReplaceSequencerAsync(NodeId failed, ImmutableArray<NodeAddress> standbys,
        string reason, CancellationToken cancellationToken = default)
    {
        var answers = await ProbeAsync(standbys, new SequencerInfoRequest(Epoch.None), static r => r.IsOk,
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

    /// <summary>The spares that answer and are freshly formatted, in the order given. A unit that joins is checked
    /// again under its seal.</summary>
    /// <param name="all">True: each spare gets the whole time-out. False: only a moment once another has
    /// answered.</param>
    public Task<ImmutableArray<NodeAddress>> FindSparesAsync(
        ImmutableArray<NodeAddress> spares, CancellationToken cancellationToken = default, bool all = false) =>
        ProbeAsync(
            spares,
            new UnitInfoRequest(Epoch.None),
            static r => r.IsOk && (r.End == LogPosition.Zero || Planted.Is("removed-units-return")),
            cancellationToken,
            all);

    private static NodeAddress? FirstUnused(ImmutableArray<NodeAddress> spares, Projection projection) =>
        spares.Where(spare => !projection.HasUnit(spare.Id)).Select(spare => (NodeAddress?)spare).FirstOrDefault();

    private async Task<ImmutableArray<NodeAddress>> ProbeAsync<TResponse>(
        ImmutableArray<NodeAddress> nodes, Request<TResponse> request, Predicate<TResponse> isUsable,
        CancellationToken cancellationToken, bool all = false)
        where TResponse : Response
    {
        using var timeout = new CancellationTokenSource(ProbeTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        var probes = nodes.Select(ProbeOneAsync).ToList();
        var pending = probes.ToList();
        while (pending.Count > 0)
        {
            var done = await Task.WhenAny(pending);
            pending.Remove(done);

            // A single answer is enough to go on. Nodes earlier in the order get a moment more, not the whole time-out.
            if (await done && !all) timeout.CancelAfter(ProbeGrace);
        }

        cancellationToken.ThrowIfCancellationRequested();
        return [.. nodes.Where((_, i) => probes[i].Result)];

        async Task<bool> ProbeOneAsync(NodeAddress node)
        {
            try
            {
                return isUsable(await transport.CallAsync(node, request, either.Token));
            }
            catch (Exception e) when (e is TransportException or OperationCanceledException)
            {
                return false;
            }
        }
    }
}
