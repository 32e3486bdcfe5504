namespace Corfu.Protocol;

/// <summary>What a node does. Numbers are part of the wire format.</summary>
public enum NodeRole : byte
{
    None = 0,
    Unit = 1,
    Sequencer = 2,
    Acceptor = 3,
}
