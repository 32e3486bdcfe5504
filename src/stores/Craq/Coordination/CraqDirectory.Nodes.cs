namespace Craq.Coordination;

/// <summary>Nodes and their leases.</summary>
internal sealed partial class CraqDirectory
{
    private NodeGrant ApplyRegister(DirectoryNode node, long milliseconds)
    {
        if (!_nodes.ContainsKey(node.Id) && _nodes.Count >= MaxNodes)
            throw Reject($"the directory has {MaxNodes} nodes, its most: forget those that are gone for good");
        if (!PlacementRules.IsName(node.Datacenter))
            throw Reject($"a datacenter's name has 1 to {ChainConfig.MaxName} bytes");
        if (_evicted.Contains(node.Id) && IsNeededGone(node.Id))
            throw Reject($"{node.Id} is evicted: it may register once its leased chains go on without it");
        _evicted = _evicted.Remove(node.Id);
        // A process that was started again, or that does not know whether its last call was recorded.
        EndTermOf(node.Id);
        EndReleasesOf(node.Id);
        var lease = ++_lastNumber;
        _terms = _terms.Add(lease, new NodeTerm(node.Id, lease, milliseconds));
        var state = _draining.Contains(node.Id) ? DirectoryNodeState.Draining : DirectoryNodeState.Active;
        SetNode(node with { State = state });
        return new NodeGrant(lease, _revision);
    }

    private bool ApplyRenew(long lease)
    {
        if (!_terms.TryGetValue(lease, out var term) || _evicted.Contains(term.Node)) return false;
        _terms = _terms.SetItem(lease, term with { Version = ++_lastNumber });
        return true;
    }

    private void ApplyEnd(long lease) => End(lease);

    private void ApplyExpire(long lease, long version)
    {
        if (_terms.TryGetValue(lease, out var term) && term.Version == version) End(lease);
    }

    private string? ApplyEvict(NodeId node)
    {
        if (!_nodes.TryGetValue(node, out var known) || known.State == DirectoryNodeState.Gone)
            return "the node has no lease";
        if (!IsNeededGone(node)) return "no leased chain could go on without the node";
        _evicted = _evicted.Add(node);
        return null;
    }

    private bool ApplySetDraining(NodeId node, bool isDraining)
    {
        if (!_nodes.TryGetValue(node, out var known)) return false;
        if (_draining.Contains(node) == isDraining) return true;
        _draining = isDraining ? _draining.Add(node) : _draining.Remove(node);
        if (known.State != DirectoryNodeState.Gone)
            SetNode(known with { State = isDraining ? DirectoryNodeState.Draining : DirectoryNodeState.Active });
        return true;
    }

    private string? ApplyForgetNode(NodeId node)
    {
        if (!_nodes.TryGetValue(node, out var known)) return null;
        if (known.State != DirectoryNodeState.Gone) return "the node has a lease: stop it first";
        if (_chains.Values.Any(config => config.IndexOf(node) >= 0))
            return "the node is a member of chains: wait until others have taken its place";
        _revision++;
        _nodes = _nodes.Remove(node);
        (_draining, _evicted) = (_draining.Remove(node), _evicted.Remove(node));
        return null;
    }

    // A leased chain has the node, and may go on without it.
    private bool IsNeededGone(NodeId node) => _leased.Keys.Any(chain =>
        _chains[chain].IndexOf(node) >= 0 && ChainRules.MayLose(_chains[chain], node));

    private void End(long lease)
    {
        if (!_terms.TryGetValue(lease, out var term)) return;
        _terms = _terms.Remove(lease);
        SetNode(_nodes[term.Node] with { State = DirectoryNodeState.Gone });
    }

    private void EndTermOf(NodeId node)
    {
        if (!_nodes.TryGetValue(node, out var known) || known.State == DirectoryNodeState.Gone) return;
        foreach (var (lease, term) in _terms)
        {
            if (term.Node != node) continue;
            _terms = _terms.Remove(lease);
            return;
        }
    }

    private void SetNode(DirectoryNode node)
    {
        _revision++;
        _nodes = _nodes.SetItem(node.Id, node);
    }
}
