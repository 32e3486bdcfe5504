namespace NamenodeSample.Journaling;

/// <summary>A part of the journal: a ledger of edits, or of an image.</summary>
/// <param name="First">Id of the first edit that the ledger gets; of an image, of the first that it lacks.</param>
[MessagePackObject]
public sealed record Segment(
    [property: Key(0)] bool IsImage, [property: Key(1)] long Ledger, [property: Key(2)] long First);
