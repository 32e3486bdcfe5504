namespace Salus.Region.Body;

/// <summary>A node's means that the bodies of its regions share.</summary>
/// <param name="Damaged">A file of the store has been found damaged, or is not there: it is to come from a peer. Any
/// thread; quick.</param>
internal sealed record BodyPorts(
    IRegionFiles Files, IndexPages Index, FileWork Work, MemtableBudget Budget, Action<RegionFile> Damaged);
