namespace Salus.Protocol;

/// <summary>The kinds of records in a region's log, each with an index and a link of the chain. Numbers are part of the
/// format and never reused.</summary>
public enum RegionRecordKind : byte
{
    None = 0,

    /// <summary>A <see cref="SubBatch"/>.</summary>
    Put = 1,

    /// <summary>The region begins again, in a new generation or in a new run: an <see cref="Opening"/>.</summary>
    Open = 2,

    /// <summary>The memtable is frozen here, and becomes a checkpoint file: a <see cref="CutRecord"/> (S17).</summary>
    Cut = 3,

    /// <summary>Files become one file: a <see cref="CompactRecord"/> (S18).</summary>
    Compact = 4,
}
