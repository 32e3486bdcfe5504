namespace Tango;

/// <summary>Who decides a runtime's transactions that read and write. Runtimes of both kinds share a log; each reads
/// what the others have decided.</summary>
public enum TransactionDecisions
{
    /// <summary>Playback of the commit record: its writer plays up to it before it knows the outcome.</summary>
    Playback = 0,

    /// <summary>
    /// The sequencer, as it grants the commit record's position, in logs of feature level 3 and above. A transaction
    /// that is large, or that a sequencer does not decide, is decided by playback as before. An outcome is known once
    /// the record is in the log; a transaction that aborts writes nothing.
    /// </summary>
    Sequencer = 1,
}
