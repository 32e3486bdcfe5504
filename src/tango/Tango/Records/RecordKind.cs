namespace Tango;

/// <summary>Kinds of records in an entry; the numbers are part of the format (docs/formats/tango.md).</summary>
public enum RecordKind
{
    /// <summary>A mutator call outside a transaction.</summary>
    Update = 1,

    /// <summary>Read versions and writes of a transaction, decided by playback at its position.</summary>
    Commit = 2,

    /// <summary>The published outcome of a commit record whose read set not every reader hosts.</summary>
    // A host without the whole read set waits for the decision (R20).
    Decision = 3,

    /// <summary>Speculative writes of a large transaction; no effect without its commit record.</summary>
    // A commit record names its spills; playback reads them when it comes to that record (R19).
    Spill = 4,

    /// <summary>The last record of a checkpoint, in a stream of its own.</summary>
    // A checkpoint has the state, the versions and the undecided commit records of one position (R21).
    Checkpoint = 5,

    /// <summary>A piece of a checkpoint's content, in the same stream.</summary>
    Chunk = 6,
}
