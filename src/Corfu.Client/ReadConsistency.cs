namespace Corfu.Client;

/// <summary>How fresh a tail must be.</summary>
public enum ReadConsistency
{
    /// <summary>Confirmed with requests sent after the call began: no clocks, no leases (design: linearizability without clocks).</summary>
    Linearizable,

    /// <summary>The sequencer's word alone: monotone for this client, but a replaced sequencer may still be believed.</summary>
    Session,
}
