namespace Salus.Protocol;

/// <summary>The operations of region servers, 144 to 159 and from 176 on, and of stores, 160 to 175. Numbers are part
/// of the wire format and never reused.</summary>
public static class SalusOpcode
{
    public const Opcode PutBatch = (Opcode)144;
    public const Opcode Forward = (Opcode)145;
    public const Opcode Prepared = (Opcode)146;
    public const Opcode Vote = (Opcode)147;
    public const Opcode Confirm = (Opcode)148;
    public const Opcode Decide = (Opcode)149;
    public const Opcode Commit = (Opcode)150;
    public const Opcode RegionStatus = (Opcode)151;
    public const Opcode Get = (Opcode)152;
    public const Opcode ReadTree = (Opcode)153;
    public const Opcode Fence = (Opcode)154;
    public const Opcode Adopt = (Opcode)155;
    public const Opcode Release = (Opcode)157;
    public const Opcode Checkpointed = (Opcode)158;
    public const Opcode Cut = (Opcode)159;

    public const Opcode Seal = (Opcode)160;
    public const Opcode ListLog = (Opcode)161;
    public const Opcode ReadRecords = (Opcode)162;
    public const Opcode ListFiles = (Opcode)163;
    public const Opcode ReadFile = (Opcode)164;
    public const Opcode StoreInfo = (Opcode)165;

    public const Opcode RegionHistory = (Opcode)176;
}

/// <summary>The outcomes that the log does not have: 48 to 63. Numbers are part of the wire format and never
/// reused.</summary>
public static class SalusStatus
{
    /// <summary>The outcome is not known yet: ask again.</summary>
    public const Status Pending = (Status)48;

    /// <summary>The node serves no such region, or is not the member that the request is for.</summary>
    public const Status WrongMember = (Status)49;

    /// <summary>Something before the request is missing; the answer says what the region has.</summary>
    public const Status Gap = (Status)50;

    /// <summary>A writer of a higher run has taken over.</summary>
    public const Status RunOver = (Status)51;

    /// <summary>The roots differ: sender and receiver do not have the same blocks.</summary>
    public const Status Diverged = (Status)52;

    /// <summary>The member has not applied the batch that the request names.</summary>
    public const Status Behind = (Status)53;

    /// <summary>The store no longer has what is asked for, or never had it.</summary>
    public const Status NotFound = (Status)54;
}

/// <summary>The roles' numbers on the wire, and their names in a process.</summary>
public static class SalusRoles
{
    public const NodeRole RegionServer = (NodeRole)129;

    public const NodeRole BlockStore = (NodeRole)130;

    public const string RegionServerName = "RegionServer";

    public const string BlockStoreName = "BlockStore";
}
