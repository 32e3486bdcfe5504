namespace Craq;

/// <summary>How a chain is served; changed by an operator while it runs.</summary>
public sealed record ChainOptions
{
    public static ChainOptions Default { get; } = new();

    public ChainProtocol Protocol { get; init; }

    /// <summary>The proof that a strong read's epoch is the newest.</summary>
    public EpochProof Reads { get; init; }

    /// <summary>How values go down the chain.</summary>
    public ValuePath Values { get; init; }
}

/// <summary>The replicas that answer strong reads.</summary>
public enum ChainProtocol : byte
{
    /// <summary>Every full member (CRAQ 2.3).</summary>
    Craq = 0,

    /// <summary>The tail alone, as in plain chain replication (CRAQ 2.2).</summary>
    Cr = 1,
}

/// <summary>The proof that no newer epoch has begun.</summary>
public enum EpochProof : byte
{
    /// <summary>Other members of the chain confirm the epoch. Uses no clock.</summary>
    Confirmed = 0,

    /// <summary>The node's lease: clean reads are local, and a lost node stalls writes until its lease ends. Needs
    /// clocks of bounded rate.</summary>
    Leased = 1,
}

/// <summary>The way of large values to the members.</summary>
public enum ValuePath : byte
{
    /// <summary>Down the chain, with their records.</summary>
    Chain = 0,

    /// <summary>Along a tree of the members, beside the chain's metadata (CRAQ 4.2): values from 8 KiB. All nodes must
    /// be of a version that knows the relay.</summary>
    Relay = 1,
}
