namespace Corfu.FaultRuns.Transactions;

/// <summary>Mistakes of a client, to prove that the check finds them.</summary>
public enum PlantedClient
{
    None,

    /// <summary>Every read shows the newest state instead of the transaction's snapshot.</summary>
    ReadsWithoutSnapshot,

    /// <summary>Reads are missing in the read set of the commit.</summary>
    DropsReads,

    /// <summary>A committed append is sent again.</summary>
    WritesTwice,

    /// <summary>An abort is taken for a commit.</summary>
    IgnoresAborts,
}
