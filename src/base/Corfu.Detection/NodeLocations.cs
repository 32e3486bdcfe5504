namespace Corfu.Detection;

/// <summary>The endpoint at which each identity answered last. Any thread.</summary>
public sealed class NodeLocations
{
    private volatile Dictionary<NodeId, NodeEndpoint> _endpoints = [];

    /// <summary>Null: not known. While a node moves, the projection names another endpoint.</summary>
    public NodeEndpoint? Find(NodeId id) => _endpoints.TryGetValue(id, out var endpoint) ? endpoint : null;

    /// <summary>The endpoints where identities answered.</summary>
    public IEnumerable<NodeEndpoint> All => _endpoints.Values.Distinct();

    /// <param name="endpoints">Not changed afterwards.</param>
    internal void Replace(Dictionary<NodeId, NodeEndpoint> endpoints) => _endpoints = endpoints;
}
