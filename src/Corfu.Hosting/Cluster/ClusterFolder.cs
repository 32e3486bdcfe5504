using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Hosting;

/// <summary>
/// A cluster on one machine: <c>cluster.json</c> and, per node, a folder with <c>node.json</c>, its log file and its roles' data. The
/// embedded and the multi-process cluster share the layout, so the same folder can be opened by either, one at a time.
/// </summary>
public sealed class ClusterFolder
{
    private const string ManifestName = "cluster.json";
    private const string ConfigName = "node.json";

    private ClusterFolder(string path, ClusterManifest manifest)
    {
        Path = path;
        Manifest = manifest;
    }

    public string Path { get; }

    public ClusterManifest Manifest { get; }

    public static bool Exists(string path) => File.Exists(System.IO.Path.Combine(path, ManifestName));

    /// <exception cref="NodeStartException">No cluster there, or a damaged one.</exception>
    public static ClusterFolder Open(string path)
    {
        var full = System.IO.Path.GetFullPath(path);
        if (!Exists(full)) throw new NodeStartException($"There is no cluster in {full}: {ManifestName} is missing.");
        var file = System.IO.Path.Combine(full, ManifestName);
        var manifest = DurableFile.ReadJson(file, HostingJson.Default.ClusterManifest);
        if (manifest.Format != ClusterManifest.CurrentFormat)
            throw new NodeStartException($"{file} has format {manifest.Format}; this version reads {ClusterManifest.CurrentFormat}.");
        if (manifest.Nodes.IsDefaultOrEmpty) throw new NodeStartException($"{file} names no nodes.");
        return new ClusterFolder(full, manifest);
    }

    /// <summary>Opens the cluster in the folder, or makes one there. An interrupted creation is finished.</summary>
    /// <exception cref="NodeStartException">The folder holds another kind of cluster than asked for, or cannot be written.</exception>
    public static ClusterFolder OpenOrCreate(string path, ClusterShape shape, IEntropy entropy)
    {
        var full = System.IO.Path.GetFullPath(path);
        try
        {
            Directory.CreateDirectory(full);
            var folder = Exists(full) ? Open(full) : Write(full, shape.NewManifest(entropy));
            folder.RequireShape(shape);
            return folder.Manifest.Formed ? folder : folder.Form(shape);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new NodeStartException($"The cluster folder {full} cannot be used: {e.Message}", e);
        }
    }

    public string NodePath(ManifestNode node) => System.IO.Path.Combine(Path, node.Name);

    public string ConfigPath(ManifestNode node) => System.IO.Path.Combine(NodePath(node), ConfigName);

    public string LogPath(ManifestNode node) => System.IO.Path.Combine(NodePath(node), node.Name + ".log");

    private static ClusterFolder Write(string path, ClusterManifest manifest)
    {
        DurableFile.WriteJson(System.IO.Path.Combine(path, ManifestName), manifest, HostingJson.Default.ClusterManifest);
        return new ClusterFolder(path, manifest);
    }

    // Nothing is served from a folder that is not formed, so all of this may be repeated.
    private ClusterFolder Form(ClusterShape shape)
    {
        foreach (var node in Manifest.Nodes)
        {
            Directory.CreateDirectory(NodePath(node));
            foreach (var role in node.Roles.Where(role => role.Folder is not null))
                RoleFolder.Format(System.IO.Path.Combine(NodePath(node), role.Folder!), Manifest.ClusterId, role.Role, new NodeId(role.Id));
            var roles = node.Roles.Select(role => new NodeConfigRole(role.Role, role.Id, role.Folder));
            var config = new NodeConfig(node.Name, Manifest.Cluster, node.Endpoint.ToString(), shape.Insecure, node.Name + ".log", [.. roles])
            {
                Peers = [.. Manifest.Nodes.Where(other => other != node).Select(other => other.Endpoint.ToString())],
                Automatic = shape.Automatic,
            };
            config.Save(ConfigPath(node));
        }

        DurableFile.SyncDirectory(Path);
        return Write(Path, Manifest with { Formed = true });
    }

    private void RequireShape(ClusterShape shape)
    {
        var units = Manifest.ChainUnits().Length;
        if (units == shape.Units && Manifest.Replicas == shape.Replicas) return;
        throw new NodeStartException(
            $"The folder {Path} holds a cluster of {units} units with {Manifest.Replicas} replicas, not {shape.Units} with {shape.Replicas}. " +
            "A cluster is reshaped by reconfiguration, not by starting it anew.");
    }
}
