namespace Tango.Playback;

/// <summary>A playback that ends at commit records which it is made to decide.</summary>
internal interface IProbe
{
    /// <summary>Nothing more is played.</summary>
    bool IsOver { get; }

    /// <summary>Playback is at a commit record.</summary>
    /// <returns>True: the probe ends here, and the record is not applied.</returns>
    bool TryEnd(RecordVersion met, bool isEvaluated, TxOutcome.Aborted? aborted);
}
