namespace Craq;

/// <summary>The promise of a read.</summary>
public enum ObjectReadMode : byte
{
    /// <summary>Linearizable for each object.</summary>
    Strong = 0,

    /// <summary>Committed versions, never older than what the session has read or written in this chain.</summary>
    Session = 1,

    /// <summary>At most a number of uncommitted versions ahead, or a time behind.</summary>
    Bounded = 2,

    /// <summary>The newest version that is durable at the node that answers.</summary>
    Eventual = 3,
}
