namespace Corfu.Agent;

public sealed partial class ClusterOperations
{
    /// <summary>Capacity (TOCS 2.5, Fig. 5 D): from now on entries go to these units too, in chains as long as before.
    /// Written entries stay where they are.</summary>
    /// <param name="units">Freshly formatted.</param>
    public async Task<Projection> AddUnitsAsync(ImmutableArray<NodeAddress> units, string reason,
        CancellationToken cancellationToken = default)
    {
        var missing = units.Where(unit => !client.Projection.HasUnit(unit.Id));
        var usable = await FindSparesAsync([.. missing], cancellationToken, all: true);
        return await client.ReconfigureAsync(
            p =>
            {
                var added = units.Where(u => !p.HasUnit(u.Id)).ToList();
                if (added.Count == 0) return null;
                foreach (var unit in added.Except(usable))
                    throw new ReconfigurationException($"Unit {unit} does not answer, or has been used before (R2).");
                var replicas = p.Active.Chains.Max(c => c.FullCount);
                ImmutableArray<NodeId> all =
                    [.. ActivePlacement.Units(p.Active.Chains), .. added.Select(u => u.Id)];
                var chains = ActivePlacement.Ring(all, replicas);
                // Closed chains that a unit has left are filled up too: agents do that with spares only.
                return added.Aggregate(
                    Membership.Of(p).WithNextChains(chains, added),
                    (membership, unit) =>
                        membership.WithJoining(chain => chain.Replicas.Length < replicas ? unit.Id : null, [unit]));
            },
            reason,
            cancellationToken);
    }

    /// <summary>A healthy unit leaves without a moment of fewer replicas: a spare takes its place for new entries and
    /// joins beside it in closed segments, and when those are rebuilt it goes. Without spares other units take over, as
    /// far as there are units enough.</summary>
    /// <param name="rebuilder">Does the long part. After an interruption, another call goes on there.</param>
    public async Task<Projection> RetireUnitAsync(NodeId unit, ImmutableArray<NodeAddress> spares, Rebuilder rebuilder,
        string reason, CancellationToken cancellationToken = default)
    {
        var usable = await FindSparesAsync(spares, cancellationToken);
        await client.ReconfigureAsync(p => Retiring(p, unit, FirstUnused(usable, p)), reason, cancellationToken);
        await rebuilder.RunAsync(cancellationToken);
        return await DropUnitAsync(unit, reason, cancellationToken);
    }

    // Null: it takes no new entries, and each of its chains has replicas enough without it.
    private static Membership? Retiring(Projection projection, NodeId unit, NodeAddress? spare)
    {
        var chains = projection.Active.Chains;
        var replicas = chains.Max(c => c.FullCount);
        var rest = ActivePlacement.Units(chains).Remove(unit);
        if (spare is null && rest.IsEmpty)
            throw new ReconfigurationException($"Unit {unit} is the only one that takes entries: add another first.");
        var before = Membership.Of(projection);
        var after = ActivePlacement.Leave(before, unit, spare, replicas);
        if (projection.Segments.SelectMany(s => s.Chains).Any(c => ReplacementIn(c) is not null))
            return after.WithJoining(ReplacementIn, spare is { } joins ? [joins] : []);
        return ReferenceEquals(before, after) ? null : after;

        NodeId? ReplacementIn(Chain chain)
        {
            if (!chain.Replicas.Any(r => r.Unit == unit) || chain.Replicas.Length > replicas) return null;
            return spare?.Id ?? NextBehind(rest, chain);
        }
    }

    // Spreads the load as the ring does: the next unit behind the chain's last that is not in it.
    private static NodeId? NextBehind(ImmutableArray<NodeId> ring, Chain chain)
    {
        var last = ring.ToList().FindLastIndex(u => chain.Replicas.Any(r => r.Unit == u));
        var behind = Enumerable.Range(1, ring.Length).Select(i => ring[(last + i) % ring.Length]);
        return behind.Where(u => !chain.Replicas.Any(r => r.Unit == u)).Select(u => (NodeId?)u).FirstOrDefault();
    }

    /// <summary>Another number of replicas: at once for new entries, in a new segment. Older segments follow in the
    /// background onto the same chains, and all become one.</summary>
    /// <param name="migrator">Does the long part. After an interruption, another call goes on there.</param>
    public async Task<Projection> SetReplicasAsync(int replicas, Migrator migrator, string reason,
        CancellationToken cancellationToken = default)
    {
        await client.ReconfigureAsync(
            p =>
            {
                var units = ActivePlacement.Units(p.Active.Chains);
                if (replicas < 1 || replicas > units.Length)
                    throw new ReconfigurationException(
                        $"{replicas} replicas need as many units; {units.Length} take entries.");
                return p.Active.Chains.All(c => c.FullCount == replicas)
                    ? null
                    : Membership.Of(p).WithNextChains(ActivePlacement.Ring(units, replicas), []);
            },
            reason,
            cancellationToken);
        return await migrator.CompactAsync(1, reason, cancellationToken: cancellationToken);
    }

    /// <summary>An override for an operator alone. The caller asserts that these units are destroyed and will never
    /// answer again; entries that only they held are lost. Chains with a survivor lose nothing.</summary>
    /// <param name="spares">Freshly formatted; they replace the destroyed units in this order.</param>
    // R14's override.
    public async Task<Projection> ReplaceDestroyedUnitsAsync(ImmutableArray<NodeId> destroyed,
        ImmutableArray<NodeAddress> spares, string reason, CancellationToken cancellationToken = default)
    {
        var usable = await FindSparesAsync(spares, cancellationToken);
        return await client.ReconfigureAsync(
            p =>
            {
                var left = new Queue<NodeAddress>(usable.Where(s => !p.HasUnit(s.Id)));
                var lost = destroyed.Where(p.HasUnit)
                    .Select(u => (u, left.TryDequeue(out var spare) ? spare : (NodeAddress?)null)).ToImmutableArray();
                return lost.IsEmpty ? null : Membership.Of(p).WithDestroyed(lost);
            },
            $"{reason}; destroyed, by the operator's word: "
            + $"{string.Join(", ", destroyed.Select(u => u.ToString()[..8]))}",
            cancellationToken);
    }

    /// <summary>Nodes with the same identities listen elsewhere. They keep their data: nothing is copied.</summary>
    /// <param name="nodes">Identities, and where they listen now.</param>
    /// <exception cref="ReconfigurationException">A node does not answer there, or answers at its old address as
    /// well.</exception>
    public async Task<Projection> MoveNodesAsync(ImmutableArray<NodeAddress> nodes, string reason,
        CancellationToken cancellationToken = default)
    {
        var current = client.Projection;
        foreach (var node in nodes)
        {
            if (!await AnswersAsync(node, cancellationToken))
                throw new ReconfigurationException($"{node.Id} does not answer at {node.Endpoint}.");
            foreach (var old in current.Units.Append(current.Sequencer).Concat(current.Acceptors)
                .Where(named => named.Id == node.Id && named != node).Distinct())
            {
                // R2: one of the two is a copy, and would forget what the other has promised.
                if (await AnswersAsync(old, cancellationToken))
                    throw new ReconfigurationException(
                        $"{node.Id} answers at {old.Endpoint} as well as at {node.Endpoint}: stop the one "
                        + "that is a copy, and delete its folder.");
            }
        }

        return await client.ReconfigureAsync(
            p =>
            {
                var moved = nodes.Aggregate(Membership.Of(p), (membership, node) => membership.WithEndpoint(node));
                var same = moved.Sequencer == p.Sequencer && moved.Units.SequenceEqual(p.Units)
                    && moved.Acceptors.SequenceEqual(p.Acceptors);
                return same ? null : moved;
            },
            reason,
            cancellationToken);
    }

    private async Task<bool> AnswersAsync(NodeAddress node, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(ProbeTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var found = await transport.DescribeAsync(node.Endpoint, either.Token);
            return found.Roles.Any(role => role.Id == node.Id);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            cancellationToken.ThrowIfCancellationRequested();
            return false;
        }
    }
}
