namespace Tango.Playback;

/// <summary>What a player that plays versions only is looking for.</summary>
internal sealed class DecisionProbe(RecordVersion commit)
{
    public RecordVersion Commit { get; } = commit;

    public bool IsFound { get; private set; }

    /// <summary>Null, once found: it committed.</summary>
    public TxOutcome.Aborted? Aborted { get; private set; }

    public void Found(TxOutcome.Aborted? aborted)
    {
        IsFound = true;
        Aborted = aborted;
    }
}
