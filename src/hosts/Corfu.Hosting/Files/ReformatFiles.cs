namespace Corfu.Hosting;

/// <summary>A node's own files, as a re-format changes them.</summary>
internal sealed class ReformatFiles(NodeOptions node, NodeRoleOptions role) : IReformatFiles
{
    public Guid? IdentityOf(string folder) => RoleFolder.IdentityOf(folder);

    public bool HasKept(string folder) => Kept(folder).Any();

    public void Rename(string from, string to)
    {
        Directory.Move(from, to);
        DurableFile.SyncDirectory(Parent(to));
    }

    public void Format(string folder, Guid id) =>
        RoleFolder.Format(folder, new ClusterId(node.Cluster), node.KindOf(role).Name, new NodeId(id));

    public void Configure(Guid old, Guid id)
    {
        var path =
            node.ConfigFile
            ?? throw new NodeStartException(
                $"The {role.Role} {old} was removed from the cluster, and no configuration file can name another.");
        var config = JsonFile.Read(path, HostingJson.Default.NodeConfig);
        (config with { Roles = [.. config.Roles.Select(r => r.Id == old ? r with { Id = id } : r)] }).Save(path);
    }

    /// <summary>Folders with the data of earlier identities.</summary>
    public static IEnumerable<string> Kept(string folder) =>
        Directory.Exists(Parent(folder))
            ? Directory.EnumerateDirectories(Parent(folder), RoleReformat.KeptPattern(folder))
            : [];

    private static string Parent(string folder) => Path.GetDirectoryName(Path.GetFullPath(folder))!;
}
