namespace Corfu.Hosting;

/// <summary>A cluster on one machine: <c>cluster.json</c> and, per node, a folder with <c>node.json</c>, its log file
/// and its roles' data. The embedded and the multi-process cluster share the layout, so the same folder can be opened
/// by either, one at a time.</summary>
public sealed class ClusterFolder
{
    private const string ManifestName = "cluster.json";
    internal const string ConfigName = "node.json";

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
        if (!Exists(full))
            throw new NodeStartException(
                $"There is no cluster in {full}: {ManifestName} is missing. 'corfu cluster up --dir {full}' makes "
                + "one.");
        var file = System.IO.Path.Combine(full, ManifestName);
        var manifest = JsonFile.Read(file, HostingJson.Default.ClusterManifest);
        if (manifest.Format != ClusterManifest.CurrentFormat)
            throw new NodeStartException(
                $"{file} has format {manifest.Format}; this version reads {ClusterManifest.CurrentFormat}.");
        if (manifest.Nodes.IsDefaultOrEmpty) throw new NodeStartException($"{file} names no nodes.");
        return manifest.Formed ? new ClusterFolder(full, manifest).WithPresent() : new ClusterFolder(full, manifest);
    }

    /// <summary>Opens the cluster in the folder, or makes one there. Units, spares and sequencers above those that
    /// there are get new nodes. An interrupted creation is finished.</summary>
    /// <exception cref="NodeStartException">The folder holds something else, or another kind of cluster than asked for,
    /// or cannot be written.</exception>
    public static ClusterFolder OpenOrCreate(string path, ClusterShape shape, IEntropy entropy)
    {
        var full = System.IO.Path.GetFullPath(path);
        try
        {
            if (!Exists(full))
            {
                RequireEmpty(full);
                PrivateFolder.Create(full);
                return Write(full, shape.NewManifest(entropy)).Form(shape);
            }

            var folder = Open(full);
            folder.RequireShape(shape);
            if (!folder.Manifest.Formed) return folder.Form(shape);
            if (shape.Tls && !folder.HasCertificates) folder.Encrypt();
            var extended = shape.Extend(folder.Manifest, entropy);
            if (extended != folder.Manifest) folder = Write(full, extended);
            if (folder.HasCertificates) ClusterCertificates.Prepare(full, folder.Manifest, TimeProvider.System);
            return folder.Manifest.Nodes.Any(node => node.Forming) ? folder.Form(folder.ShapeOfNodes(shape)) : folder;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CertificateException)
        {
            throw new NodeStartException($"The cluster folder {full} cannot be used: {e.Message}", e);
        }
    }

    /// <summary>Whether the cluster's connections are encrypted.</summary>
    public bool HasCertificates => ClusterCertificates.Exist(Path);

    /// <summary>For clients. With certificates it names those of the folder's client.</summary>
    public string ConnectionString() => HasCertificates
        ? Manifest.ConnectionString(ClusterCertificates.ClientOf(Path))
        : Manifest.ConnectionString();

    /// <summary>As <see cref="ConnectionString"/>, for administrators.</summary>
    public string AdminConnectionString() => HasCertificates
        ? Manifest.ConnectionString(ClusterCertificates.AdminOf(Path))
        : Manifest.ConnectionString();

    /// <summary>The administrator's certificate; null where connections are plain.</summary>
    /// <exception cref="CertificateException">The certificate cannot be used.</exception>
    internal ClusterTls? OpenTls(ILogger? logger = null) => HasCertificates
        ? ClusterTls.Open(new TlsOptions { Folder = ClusterCertificates.AdminOf(Path) }, logger: logger)
        : null;

    public string NodePath(ManifestNode node) => System.IO.Path.Combine(Path, node.Name);

    public string ConfigPath(ManifestNode node) => System.IO.Path.Combine(NodePath(node), ConfigName);

    /// <summary>Folders for the nodes may be there already, as mount points of their disks.</summary>
    /// <param name="certs">A folder of certificates that may be there.</param>
    /// <exception cref="NodeStartException">Other files are there.</exception>
    public static void RequireEmpty(string path, string? certs = null)
    {
        if (!Directory.Exists(path)) return;
        string[] own = [ManifestName + DurableFile.FreshSuffix, FolderLock.LockName, FolderLock.OwnerName];
        var others = Directory.EnumerateFileSystemEntries(path)
            .Where(entry => !own.Contains(System.IO.Path.GetFileName(entry)) && !IsEmptyFolder(entry)
                && entry != certs)
            .ToArray();
        if (others.Length == 0) return;
        throw new NodeStartException(
            $"The folder {path} is not empty and holds no cluster: {System.IO.Path.GetFileName(others[0])} is in it. "
            + "Give a new or empty folder.");
    }

    private static bool IsEmptyFolder(string path) =>
        Directory.Exists(path) && Directory.EnumerateFileSystemEntries(path)
            .All(e => System.IO.Path.GetFileName(e) == "lost+found");

    /// <summary>Remembers that the cluster has a projection (<see cref="ClusterManifest.Started"/>).</summary>
    public void MarkStarted()
    {
        var file = System.IO.Path.Combine(Path, ManifestName);
        var manifest = JsonFile.Read(file, HostingJson.Default.ClusterManifest);
        if (!manifest.Started)
            JsonFile.Write(file, manifest with { Started = true }, HostingJson.Default.ClusterManifest);
    }

    /// <summary>The same cluster with the identities and addresses that its nodes have now: units format themselves
    /// anew, and nodes move.</summary>
    public ClusterFolder WithPresent() => new(Path, Manifest with { Nodes = [.. Manifest.Nodes.Select(Present)] });

    private ManifestNode Present(ManifestNode node)
    {
        if (!File.Exists(ConfigPath(node))) return node;
        NodeConfig config;
        try
        {
            config = JsonFile.Read(ConfigPath(node), HostingJson.Default.NodeConfig);
        }
        catch (NodeStartException)
        {
            // The node says so itself when it is started; the others do not depend on it.
            return node;
        }

        if (!NodeEndpoint.TryParse(config.Listen, out var endpoint)) return node;
        var roles =
            node.Roles.Select(
                role => role with { Id = config.Roles.FirstOrDefault(r => r.IsSame(role))?.Id ?? role.Id });
        return node with
        {
            Host = endpoint.Host,
            Port = endpoint.Port,
            Roles = [.. roles],
            FrontEnds =
            [
                .. from own in config.FrontEndsOrNone
                   from listen in own.Endpoint is { } known ? (NodeEndpoint[])[known] : []
                   select new FrontEndAddress(own.Kind, listen),
            ],
        };
    }

    private static ClusterFolder Write(string path, ClusterManifest manifest)
    {
        JsonFile.Write(System.IO.Path.Combine(path, ManifestName), manifest,
            HostingJson.Default.ClusterManifest);
        return new ClusterFolder(path, manifest);
    }

    // Nothing is served from a folder that is not formed, so all of this may be repeated.
    private ClusterFolder Form(ClusterShape shape)
    {
        if (shape.Tls) ClusterCertificates.Prepare(Path, Manifest, TimeProvider.System);
        foreach (var node in Manifest.Nodes.Where(node => node.Forming || !Manifest.Formed))
        {
            NodeInit.Form(NodePath(node), new NodeConfig(node.Name, Manifest.Cluster, node.Endpoint.ToString(),
                shape.Insecure, node.Name + ".log", node.Roles)
            {
                Peers = [.. Manifest.Nodes.Where(other => other != node).Select(other => other.Endpoint.ToString())],
                Automatic = shape.Automatic,
                Tls = shape.Tls ? ClusterCertificates.OfNodes : null,
            });
        }

        DurableFile.SyncDirectory(Path);
        return Write(Path,
            Manifest with { Formed = true, Nodes = [.. Manifest.Nodes.Select(node => node with { Forming = false })] });
    }

    // A node that is added is configured as the others are.
    private ClusterShape ShapeOfNodes(ClusterShape shape)
    {
        var config = JsonFile.Read(ConfigPath(Manifest.Nodes[0]), HostingJson.Default.NodeConfig);
        return shape with
        {
            Insecure = config.Insecure,
            Automatic = config.Automatic ?? true,
            Tls = HasCertificates,
        };
    }

    // A cluster of one machine stops for it: connections of two kinds are for clusters that may not.
    private void Encrypt()
    {
        var stopped = new List<StoppedNode>();
        try
        {
            foreach (var node in Manifest.Nodes)
            {
                if (FolderLock.OwnerOf(NodePath(node)) is not null)
                    throw new NodeStartException(
                        $"{node.Name} runs without TLS. Run 'corfu cluster down --dir {Path}', then 'corfu cluster up "
                        + $"--tls --dir {Path}'.");
                stopped.Add(StoppedNode.Open(NodePath(node)));
            }

            ClusterCertificates.Prepare(Path, Manifest, TimeProvider.System, () =>
            {
                foreach (var node in stopped)
                    node.Save(node.Config with { Tls = ClusterCertificates.OfNodes, Insecure = false });
            });
        }
        finally
        {
            foreach (var node in stopped) node.Dispose();
        }
    }

    private void RequireShape(ClusterShape shape)
    {
        var (units, _, _) = Manifest.Counts();
        if (Manifest.Replicas != shape.Replicas)
        {
            throw new NodeStartException(
                $"Replicas: the cluster in {Path} was made with {Manifest.Replicas}, not {shape.Replicas}. 'corfu "
                + "reconfigure set-replicas' changes it.");
        }

        if (shape.Units < units)
        {
            throw new NodeStartException(
                $"Units: the cluster in {Path} has {units}, not {shape.Units}. 'corfu reconfigure remove-unit' takes "
                + "one out.");
        }
    }
}
