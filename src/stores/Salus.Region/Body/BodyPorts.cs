namespace Salus.Region.Body;

/// <summary>A node's means that the bodies of its regions share.</summary>
/// <param name="Damaged">A file of the store has been found damaged, or cannot be read: it is to come from a peer. Any
/// thread; quick.</param>
/// <param name="Missing">A checkpoint needs a file that the store has not got yet. As of Damaged.</param>
internal sealed record BodyPorts(
    IRegionFiles Files, IndexPages Index, FileWork Work, MemtableBudget Budget, Action<RegionFile> Damaged,
    Action<RegionFile> Missing);
