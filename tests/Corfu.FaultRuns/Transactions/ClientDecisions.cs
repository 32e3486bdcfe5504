using Tango;

namespace Corfu.FaultRuns.Transactions;

/// <summary>How the clients' transactions are decided.</summary>
public enum ClientDecisions
{
    /// <summary>Each of the two ways by half of the clients, in one log; one that starts again changes to the other
    /// way.</summary>
    Mixed,

    /// <summary>As <see cref="TransactionDecisions.Playback"/>.</summary>
    Playback,

    /// <summary>As <see cref="TransactionDecisions.Sequencer"/>.</summary>
    Sequencer,
}
