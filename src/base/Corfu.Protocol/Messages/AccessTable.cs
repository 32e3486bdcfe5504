namespace Corfu.Protocol;

/// <summary>
/// The permissions at the cluster's port: one row for each opcode below 128. Other systems' roles add theirs beside
/// their messages (<see cref="RequestTable.Add"/>). docs/permissions.md is generated from these rows.
/// </summary>
/// <remarks>
/// Invariant: a client is trusted with the whole log and with nothing else. It reads, appends, fills, completes and
/// trims, since every reader must. It has no part in an election: acceptors believe proposers, so one vote
/// for a foreign value, under any ballot, could undo a decision. Nor does it seal, so it begins no epoch.
/// Liveness does not need it: the agents finish ballots and give a sealed epoch its successor.
/// </remarks>
public static class AccessTable
{
    /// <summary>In the order of the opcodes.</summary>
    public static ImmutableArray<AccessRow> Rows { get; } =
    [
        new(Opcode.Write, AccessRole.Client),
        new(Opcode.Complete, AccessRole.Client),
        new(Opcode.Fill, AccessRole.Client),
        new(Opcode.Read, AccessRole.Client),
        new(Opcode.Trim, AccessRole.Client),
        new(Opcode.TrimPrefix, AccessRole.Client),
        new(Opcode.Seal, AccessRole.Admin),
        new(Opcode.Install, AccessRole.Client, AccessGate.Decided),
        new(Opcode.ConfirmEpoch, AccessRole.Client),
        new(Opcode.StreamTails, AccessRole.Client),
        new(Opcode.UnitInfo, AccessRole.Client),
        new(Opcode.Repair, AccessRole.Client),
        new(Opcode.CompleteMany, AccessRole.Admin),
        new(Opcode.ListStreamTails, AccessRole.Client),
        new(Opcode.ImportStreamTails, AccessRole.Admin),

        new(Opcode.Bootstrap, AccessRole.Client, AccessGate.Decided),
        new(Opcode.Token, AccessRole.Client),
        new(Opcode.Tail, AccessRole.Client),
        new(Opcode.LoadStreams, AccessRole.Client),
        new(Opcode.Grants, AccessRole.Client),
        new(Opcode.SequencerInfo, AccessRole.Client),
        new(Opcode.Advance, AccessRole.Admin),

        new(Opcode.Prepare, AccessRole.Admin),
        new(Opcode.Accept, AccessRole.Admin),
        new(Opcode.Decided, AccessRole.Admin),
        new(Opcode.Latest, AccessRole.Client),
        new(Opcode.ReadSlot, AccessRole.Client),
        new(Opcode.Watch, AccessRole.Client),

        new(Opcode.Ping, AccessRole.Node),
        new(Opcode.Suspicion, AccessRole.Node),
        new(Opcode.AgentInfo, AccessRole.Client),
        new(Opcode.SetAutomation, AccessRole.Admin),
        new(Opcode.Deny, AccessRole.Admin),
        new(Opcode.ProcessInfo, AccessRole.Client, AccessGate.OwnRow),
    ];

    /// <summary>Null: the opcode has no row here.</summary>
    internal static AccessRow? Find(Opcode opcode)
    {
        foreach (var row in Rows)
        {
            if (row.Opcode == opcode) return row;
        }

        return null;
    }
}

/// <summary>Which peers may send a request.</summary>
/// <param name="Lowest">The lowest role that may; each higher one may as well.</param>
/// <param name="Gate">The condition for a <see cref="AccessRole.Client"/>. Higher roles pass.</param>
public sealed record AccessRow(Opcode Opcode, AccessRole Lowest, AccessGate Gate = AccessGate.None);

/// <summary>Conditions for a client's request.</summary>
public enum AccessGate
{
    None = 0,

    /// <summary>The projection must be one that the agent of the process has read as decided, from a majority of
    /// acceptors.</summary>
    Decided = 1,

    /// <summary>The answer is about the caller's own identity only.</summary>
    OwnRow = 2,
}

/// <summary>The verdict of the table on an opcode and a role.</summary>
public enum AccessVerdict
{
    Allowed = 0,

    /// <summary>Allowed if the process's <see cref="IRequestGate"/> says so.</summary>
    Gated = 1,

    Denied = 2,
}

/// <summary>Judges the requests of clients that the table sends through <see cref="AccessGate.Decided"/>.</summary>
public interface IRequestGate
{
    /// <summary>Ok: the role may handle it. Else the answer, and nothing is done. Any thread; must be quick.</summary>
    Status Judge(Request request);
}
