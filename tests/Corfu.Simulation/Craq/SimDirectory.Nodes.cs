using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Coordination;

namespace Corfu.Simulation.Craq;

// Nodes and their leases.
internal sealed partial class SimDirectory
{
    private readonly Dictionary<NodeId, long> _renewed = [];
    private readonly SortedSet<NodeId> _draining = [];

    // Leases that are renewed no more, and end.
    private readonly SortedSet<NodeId> _evicted = [];

    // The process that has a node's lease.
    private readonly Dictionary<NodeId, Connection> _holders = [];

    /// <summary>A node whose disk is lost and that still stands in chains: its operator makes sure that no chain is cut
    /// down to it.</summary>
    public NodeId Lost { get; set; }

    public void Register(DirectoryNode node)
    {
        _renewed[node.Id] = world.Now;
        _nodes[node.Id] = node;
        Publish();
    }

    public void SetDraining(NodeId node, bool isDraining)
    {
        if (isDraining) _draining.Add(node);
        else _draining.Remove(node);
        // A node with a new disk may not be registered yet.
        if (_nodes.TryGetValue(node, out var known) && known.State != DirectoryNodeState.Gone)
            SetState(node, StateOf(node));
    }

    /// <summary>Ends leases that are not renewed, from now on.</summary>
    public void KeepLeases(long time) => world.Schedule(null, time / 2, SimEventKind.Control, () =>
    {
        foreach (var node in _nodes.Keys.ToArray())
        {
            if (world.Now - _renewed[node] > time) EndLease(node);
        }

        KeepLeases(time);
    });

    private void EndLease(NodeId node)
    {
        _evicted.Remove(node);
        SetState(node, DirectoryNodeState.Gone);
    }

    private string? Evict(NodeId node)
    {
        if (!_nodes.TryGetValue(node, out var known) || known.State == DirectoryNodeState.Gone)
            return "the node has no lease";
        monitor.Mark("node evicted");
        _evicted.Add(node);
        return null;
    }

    // False: the chain is at another epoch, or another process has the node's lease.
    private bool Release(ChainId chain, Epoch epoch, NodeId node, Connection holder)
    {
        var state = _chains[chain];
        if (state.Config.Epoch != epoch || _holders.GetValueOrDefault(node) != holder) return false;
        _chains[chain] = ChainRules.Release(state, node);
        return true;
    }

    // The revision of the lease, if it is a new one. Null: an evicted node's lease runs out.
    private (long Revision, bool IsNew)? Renew(DirectoryNode node, Connection holder)
    {
        if (_evicted.Contains(node.Id)) return null;
        _renewed[node.Id] = world.Now;
        var isNew = !_nodes.TryGetValue(node.Id, out var known) || known.State == DirectoryNodeState.Gone
            || _holders.GetValueOrDefault(node.Id) != holder;
        if (isNew) EndReleasesOf(node.Id);
        _holders[node.Id] = holder;
        if (known is null) Register(node);
        else SetState(node.Id, StateOf(node.Id));
        return (_revision, isNew);
    }

    private void EndReleasesOf(NodeId node)
    {
        foreach (var (chain, state) in _chains.ToArray())
            _chains[chain] = state with { Released = state.Released.Remove(node) };
    }

    private DirectoryNodeState StateOf(NodeId node) =>
        _draining.Contains(node) ? DirectoryNodeState.Draining : DirectoryNodeState.Active;

    private void SetState(NodeId node, DirectoryNodeState state)
    {
        if (_nodes[node].State == state) return;
        world.Note($"{node} is {state}");
        _nodes[node] = _nodes[node] with { State = state };
        Publish();
    }

    private bool IsForbidden(ChainConfig config) =>
        !Lost.IsNone && config.Members.All(member => member.Node == Lost);
}
