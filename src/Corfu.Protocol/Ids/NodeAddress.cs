namespace Corfu.Protocol;

/// <summary>One role of one process: the identity that must answer, and where. A mismatch of identity is refused (R2).</summary>
public readonly record struct NodeAddress(NodeId Id, NodeEndpoint Endpoint)
{
    public override string ToString() => $"{Id.Value.ToString("N")[..8]}@{Endpoint}";
}
