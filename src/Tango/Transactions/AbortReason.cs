namespace Tango;

/// <summary>Why a transaction did not commit. Numbers are stored in decision records.</summary>
public enum AbortReason
{
    /// <summary>Something the transaction read was written after its snapshot.</summary>
    Conflict = 1,

    /// <summary>The snapshot is below the object's low-water mark: whether a key was written since is no longer known
    /// (R18).</summary>
    SnapshotTooOld = 2,

    /// <summary>Too many entries came between the first spill of a large transaction and its commit record, whatever it
    /// read (R19).</summary>
    SpilledTooEarly = 3,
}
