namespace Corfu.Protocol;

/// <summary>What a unit can still do for its cluster.</summary>
public enum UnitHealth : byte
{
    Ok = 0,

    /// <summary>The disk is nearly full: no pages, but reads, seals, installs and trims. Ends by itself when there is room again.</summary>
    ReadOnly = 1,

    /// <summary>A write or a sync failed: nothing is served or acknowledged any more, whatever the disk does next. The unit must be replaced.</summary>
    Failed = 2,
}
