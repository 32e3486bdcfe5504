using System.Text.Json;

namespace Corfu.Hosting;

/// <summary>A node's folder seen from outside: nothing is held or changed.</summary>
public sealed record NodeFolder(string Path, NodeOptions Options, bool IsRunning)
{
    /// <summary>The folders that hold data of the node: its own and its roles'.</summary>
    public IEnumerable<string> DataFolders =>
        Options.Roles.Select(role => role.Folder).OfType<string>().Append(Path).Select(System.IO.Path.GetFullPath)
            .Distinct();

    /// <summary>The folders of the nodes of a cluster's folder; else the folder itself.</summary>
    /// <exception cref="NodeStartException">The cluster's file is damaged.</exception>
    public static ImmutableArray<string> PathsIn(string folder)
    {
        if (!ClusterFolder.Exists(folder)) return [System.IO.Path.GetFullPath(folder)];
        var cluster = ClusterFolder.Open(folder);
        return [.. cluster.Manifest.Nodes.Select(cluster.NodePath)];
    }

    /// <exception cref="NodeStartException">The folder holds no node, or one that could not start.</exception>
    public static NodeFolder Open(string path)
    {
        var file = System.IO.Path.Combine(path, ClusterFolder.ConfigName);
        if (!File.Exists(file))
            throw new NodeStartException(
                $"There is no node in {path}: {ClusterFolder.ConfigName} is missing. Give the folder of a node, or of "
                + "a cluster of 'corfu cluster up'.");
        var options = NodeConfig.Load(file);
        return new NodeFolder(System.IO.Path.GetFullPath(path), options, FolderLock.OwnerOf(path) is not null);
    }

    /// <summary>Formats on disk that this build cannot read, each with its file.</summary>
    public ImmutableArray<string> UnreadFormats() =>
    [
        .. from role in Options.Roles
           where role.Folder is not null
           let file = System.IO.Path.Combine(role.Folder!, RoleFolder.IdentityName)
           where File.Exists(file)
           let format = FormatOf(file)
           where format != FolderIdentity.CurrentFormat
           select $"{file} has format {format}, and this build reads {FolderIdentity.CurrentFormat}",
    ];

    // A later build may have added members, so only the number is read.
    private static int? FormatOf(string file)
    {
        try
        {
            using var json = JsonDocument.Parse(File.ReadAllBytes(file));
            return json.RootElement.GetProperty("format").GetInt32();
        }
        catch (Exception e)
            when (e is JsonException or KeyNotFoundException or InvalidOperationException or FormatException
                or IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
