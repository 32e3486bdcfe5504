namespace Corfu.Unit;

/// <summary>What a record of a unit's log says. Numbers are part of the format.</summary>
internal enum RecordKind : byte
{
    /// <summary>First record of each run of the unit: everything after it belongs to a higher incarnation of the
    /// log.</summary>
    Open = 1,

    /// <summary>A data entry at its position.</summary>
    Page = 2,

    /// <summary>A junk entry at its position.</summary>
    Junk = 3,

    /// <summary>One position released; the body is the tombstone brought along, if any (R5).</summary>
    Trim = 4,

    /// <summary>Everything below the position released; the only record that moves the trim mark (R5).</summary>
    TrimPrefix = 5,

    /// <summary>Epochs below the record's are refused from here on.</summary>
    Seal = 6,

    /// <summary>The record's epoch is served from here on; the position is that epoch's start (R14).</summary>
    Install = 7,

    /// <summary>Everything that records below a deleted part of the log had established, besides pages.</summary>
    State = 8,

    /// <summary>The newest positions of some streams, whose entries stood in a part of the log that goes.</summary>
    StreamTails = 9,

    /// <summary>A page or junk entry once more: moved out of a part of the log that goes, or repaired. Counts only
    /// where the position is live then (R5).</summary>
    Moved = 16,

    /// <summary>Which parts in the middle of the log are gone on purpose: pairs of the last record before each and the
    /// last one in it.</summary>
    Freed = 17,
}
