namespace Corfu.Unit;

/// <summary>Who may take which part of the reserve on a disk that is nearly full, in the order in which they are cut
/// off.</summary>
internal enum SpaceUse
{
    /// <summary>Pages: refused before they touch the reserve.</summary>
    Pages,

    /// <summary>Trims of single positions: half of the reserve, for each takes space and frees it only later.</summary>
    Trims,

    /// <summary>What must always work: seals and installs, without which there is no next epoch, and prefix trims,
    /// which make room.</summary>
    Vital,
}
