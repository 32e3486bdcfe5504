namespace Corfu.Fuzz;

public static class AllTargets
{
    /// <param name="folder">For decoders that read files.</param>
    public static IReadOnlyList<Target> In(string folder) =>
        [.. ProtocolTargets.All(), .. DiskTargets.All(folder), .. UnitFolderTargets.All(folder), .. TangoTargets.All(),
            .. MemcachedTargets.All(), .. SalusTargets.All(),
            .. ZooKeeperTargets.All()];
}
