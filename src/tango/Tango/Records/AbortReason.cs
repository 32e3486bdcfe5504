namespace Tango;

/// <summary>Why a transaction did not commit. Numbers 1 to 3 are stored in decision records.</summary>
public enum AbortReason
{
    /// <summary>Something the transaction read was written after its snapshot.</summary>
    Conflict = 1,

    /// <summary>The snapshot is below the object's low-water mark: whether a key was written since is no longer
    /// known.</summary>
    // Versions of keys are evicted only below the low-water mark (R18).
    SnapshotTooOld = 2,

    /// <summary>Too many entries came between the first spill of a large transaction and its commit record, whatever it
    /// read.</summary>
    // Spills are kept for the log's MaxSpan only, so that a later record could not be applied (R19).
    SpilledTooEarly = 3,

    /// <summary>The commit record is not in the log and never will be. Only
    /// <see cref="TangoRuntime.ResolveAsync"/> finds that out.</summary>
    NotWritten = 4,
}
