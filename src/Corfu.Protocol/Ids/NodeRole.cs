namespace Corfu.Protocol;

/// <summary>What a node does. Numbers are part of the wire format.</summary>
public enum NodeRole : byte
{
    None = 0,
    Unit = 1,
    Sequencer = 2,
    Acceptor = 3,

    /// <summary>The cluster agent of a process; its identity is new with every start.</summary>
    Agent = 4,
}
