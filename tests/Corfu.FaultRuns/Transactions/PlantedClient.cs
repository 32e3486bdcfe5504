namespace Corfu.FaultRuns.Transactions;

/// <summary>What a client may do wrong, to prove that the check sees it.</summary>
public enum PlantedClient
{
    None,

    /// <summary>Every read shows the newest state instead of the transaction's snapshot.</summary>
    ReadsWithoutSnapshot,

    /// <summary>What was read is not in the read set of the commit.</summary>
    DropsReads,

    /// <summary>A committed append is sent again.</summary>
    WritesTwice,

    /// <summary>An abort is taken for a commit.</summary>
    IgnoresAborts,
}
