namespace Corfu.Detection;

/// <summary>The newest epoch that this agent knows, and the nodes that it names.</summary>
public interface IMembership
{
    /// <summary><see cref="Epoch.None"/>: not known yet.</summary>
    Epoch Epoch { get; }

    ImmutableArray<NamedNode> Named { get; }
}

/// <summary>A node that an epoch names for a role.</summary>
public readonly record struct NamedNode(NodeAddress Address, NodeRole Role);
