namespace Corfu.Backup;

/// <summary>Numbers are part of the backup format.</summary>
public enum CopiedKind : byte
{
    /// <summary>Data or junk.</summary>
    Entry = 1,

    /// <summary>Trimmed on its own; stream walks still need its headers (R5).</summary>
    Tombstone = 2,

    /// <summary>Trimmed, nothing is left.</summary>
    Trimmed = 3,
}
