namespace Craq.Protocol;

/// <summary>The operations of CRAQ's nodes: 128 to 143. Numbers are part of the wire format and never reused.</summary>
public static class CraqOpcode
{
    public const Opcode Read = (Opcode)128;
    public const Opcode Mutate = (Opcode)129;
    public const Opcode Chains = (Opcode)130;
    public const Opcode Replicate = (Opcode)131;
    public const Opcode Confirm = (Opcode)132;
    public const Opcode Install = (Opcode)133;
    public const Opcode Fetch = (Opcode)134;
    public const Opcode Reconcile = (Opcode)135;

    public const Opcode Values = (Opcode)136;
    public const Opcode Marked = (Opcode)137;
    public const Opcode Transact = (Opcode)138;
    public const Opcode Prepare = (Opcode)139;
    public const Opcode Settle = (Opcode)140;
    public const Opcode Ping = (Opcode)142;
}

/// <summary>The outcomes that the log does not have: 32 to 47. Numbers are part of the wire format and never
/// reused.</summary>
public static class CraqStatus
{
    /// <summary>The node is no member of the chain, or not the one that the request is for; the answer brings the
    /// config that it has.</summary>
    public const Status WrongRole = (Status)32;

    /// <summary>Records are missing before the first one; the answer says from where on.</summary>
    public const Status Gap = (Status)33;

    /// <summary>The chain's epoch is installed and not open yet: try again soon.</summary>
    public const Status NotOpen = (Status)34;

    /// <summary>Nothing proved in time that the epoch is the newest: the read has no answer. Of a mutation: the head
    /// appended its record and does not learn whether that is committed, so the outcome is unknown. Every other refusal
    /// of a mutation says that the request wrote nothing.</summary>
    public const Status Unconfirmed = (Status)35;

    /// <summary>The node has not reached the session's mark.</summary>
    public const Status Behind = (Status)36;

    /// <summary>The node cannot keep the read's bound.</summary>
    public const Status Stale = (Status)37;

    /// <summary>A compare failed; nothing was written.</summary>
    public const Status Mismatch = (Status)38;

    /// <summary>A transaction holds a key; nothing was written.</summary>
    public const Status Locked = (Status)39;

    /// <summary>The chain no longer knows whether the write was applied; nothing was done now.</summary>
    public const Status Forgotten = (Status)40;

    /// <summary>There is no object of that key, or no chain of that id.</summary>
    public const Status NotFound = (Status)41;
}

/// <summary>The role's number on the wire, and its role in a process.</summary>
public static class CraqRole
{
    public const NodeRole Role = (NodeRole)128;

    public const string Name = "Craq";
}
