namespace Corfu.Hosting;

/// <summary>Gives the unit of a stopped node a new, empty folder and a new identity, for lost or damaged data. Steps:
/// (1) the old folder is renamed, (2) a new one is formatted, (3) the node's configuration names it. Each step is
/// durable before the next; repeated after a crash, it goes on where it was. Agents find another identity in the old
/// one's place and replace the old one.</summary>
public static class UnitFormat
{
    /// <param name="Kept">The folder of the old data; null if there was none.</param>
    public sealed record Outcome(NodeId Old, NodeId New, string Folder, string? Kept);

    /// <exception cref="NodeStartException">The node runs, or the folder holds no node with a unit.</exception>
    public static Outcome Run(string nodeFolder)
    {
        using var node = StoppedNode.Open(nodeFolder);
        var config = node.Config;
        var unit = config.Roles.FirstOrDefault(role => role.Is(NodeRoles.Unit))
            ?? throw new NodeStartException($"The node in {nodeFolder} has no unit.");
        var folder = Path.Combine(node.Folder, unit.Folder!);
        var kept = RoleReformat.KeptPath(folder, unit.Id);
        if (Directory.Exists(folder) && !Directory.Exists(kept))
        {
            Directory.Move(folder, kept);
            DurableFile.SyncDirectory(Path.GetDirectoryName(kept)!);
        }

        var id = RoleFolder.IdentityOf(folder) ?? SystemEntropy.Instance.NewGuid();
        RoleFolder.Format(folder, new ClusterId(config.Cluster), NodeRoles.Unit.Name, new NodeId(id));
        node.Save(config with { Roles = config.Roles.Replace(unit, unit with { Id = id }) });
        return new Outcome(new NodeId(unit.Id), new NodeId(id), folder, Directory.Exists(kept) ? kept : null);
    }
}
