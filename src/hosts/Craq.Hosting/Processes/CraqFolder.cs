using System.Text.Json;
using Corfu.Client;
using Corfu.Storage;

namespace Craq.Hosting;

/// <summary>The nodes of a new folder.</summary>
/// <param name="Log">The connection string of the log that coordinates them.</param>
public sealed record CraqShape(string Log)
{
    /// <summary>Nodes of each datacenter, in order.</summary>
    public ImmutableArray<(string Datacenter, int Nodes)> Datacenters { get; init; } =
        [(CraqNodeSettings.DefaultDatacenter, 3)];

    /// <summary>Listeners of the first node (<see cref="CraqNodeSettings.Memcached"/>).</summary>
    public ImmutableArray<string> Memcached { get; init; } = [];

    /// <summary>The address of all nodes.</summary>
    public string Host { get; init; } = "127.0.0.1";

    /// <summary>The folder of the log's certificate authority, which issues the nodes' certificates and renews them.
    /// Null where the log has no TLS, and where nodes that are there keep what they have.</summary>
    public string? Authority { get; init; }

    /// <inheritdoc cref="NodeListen.Insecure"/>
    public bool Insecure { get; init; }
}

/// <summary>CRAQ nodes on one machine: <c>craq.json</c> and, per node, a folder with <c>node.json</c>, its log file and
/// its data. Embedded nodes and processes share the layout.</summary>
public sealed class CraqFolder
{
    private const string ManifestName = "craq.json";
    private const string ConfigName = "node.json";

    private CraqFolder(string path, CraqManifest manifest) => (Path, Manifest) = (path, manifest);

    /// <summary>The roles that these processes know.</summary>
    public static NodeRoles Roles { get; } = NodeRoles.Log.With(CraqNodeRole.Instance);

    public string Path { get; }

    public CraqManifest Manifest { get; }

    public static bool Exists(string path) => File.Exists(System.IO.Path.Combine(path, ManifestName));

    /// <exception cref="NodeStartException">No nodes there, or a damaged file.</exception>
    public static CraqFolder Open(string path)
    {
        var full = System.IO.Path.GetFullPath(path);
        if (!Exists(full))
            throw new NodeStartException($"There are no CRAQ nodes in {full}: {ManifestName} is missing. "
                + $"'corfu craq up --dir {full}' makes some.");
        var file = System.IO.Path.Combine(full, ManifestName);
        try
        {
            var manifest = JsonSerializer.Deserialize(
                File.ReadAllBytes(file), CraqJson.Default.CraqManifest);
            return manifest is { Format: CraqManifest.CurrentFormat, Nodes.IsDefaultOrEmpty: false }
                ? new CraqFolder(full, manifest)
                : throw new NodeStartException($"The file {file} names no nodes, or is of another version.");
        }
        catch (JsonException e)
        {
            throw new NodeStartException($"The file {file} is not valid: {e.Message}", e);
        }
    }

    /// <summary>Opens the nodes of the folder, or makes new ones; nodes of a folder that are more than it has are
    /// added. An interrupted creation is finished.</summary>
    /// <exception cref="NodeStartException">The folder holds something else, or cannot be written; the log does not
    /// answer.</exception>
    public static async Task<CraqFolder> OpenOrCreateAsync(
        string path, CraqShape shape, CancellationToken cancellationToken = default)
    {
        var full = System.IO.Path.GetFullPath(path);
        try
        {
            var folder = Exists(full) ? Open(full) : new CraqFolder(full, new CraqManifest(
                CraqManifest.CurrentFormat, shape.Log, []));
            folder.RequireMemcached(shape);
            folder = folder.Extended(shape);
            folder.RequireAuthority(shape);
            PrivateFolder.Create(full);
            // Before any folder is made: a name that stands in the manifest is never given to another node.
            folder = folder.Save(folder.Manifest);
            foreach (var node in folder.Manifest.Nodes.Where(node => !node.Formed))
                await folder.FormAsync(node, shape, cancellationToken);
            if (shape.Authority is { } authority)
            {
                // New nodes have got their certificates above.
                foreach (var node in folder.Manifest.Nodes.Where(node => node.Formed))
                    ClusterCertificates.ProvideNode(authority, folder.NodePath(node), node.Host);
            }

            return folder.Save(folder.Manifest with
            {
                Nodes = [.. folder.Manifest.Nodes.Select(node => node with { Formed = true })],
            });
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CertificateException)
        {
            throw new NodeStartException($"The folder {full} cannot be used: {e.Message}", e);
        }
    }

    public string ConfigPath(CraqManifestNode node) =>
        System.IO.Path.Combine(Path, node.Name, ConfigName);

    public string NodePath(CraqManifestNode node) => System.IO.Path.Combine(Path, node.Name);

    /// <summary>For clients. The certificates are those of the log's connection string.</summary>
    public CraqConnectionString ConnectionString()
    {
        var log = Corfu.Client.ConnectionString.Parse(Manifest.Log);
        return new CraqConnectionString([.. Manifest.Nodes.Select(node => node.Endpoint)
            .Take(CraqConnectionString.MaxEndpoints)])
        {
            IsTls = log.IsTls,
            IsInsecure = log.IsInsecure,
            Certificates = log.Certificates,
            Cluster = log.Cluster,
        };
    }

    private CraqFolder Extended(CraqShape shape)
    {
        var missing = new List<string>();
        foreach (var (datacenter, nodes) in shape.Datacenters)
        {
            var there = Manifest.Nodes.Count(node => node.Datacenter == datacenter);
            for (var i = there; i < nodes; i++) missing.Add(datacenter);
        }

        if (missing.Count == 0) return this;
        var taken = Manifest.Nodes.Select(node => node.Port).ToImmutableArray();
        var ports = new ClusterShape { Host = shape.Host }.FreePorts(missing.Count, taken);
        var number = Manifest.Nodes.Length;
        return new CraqFolder(Path, Manifest with
        {
            Nodes = [.. Manifest.Nodes, .. missing.Select((datacenter, i) => new CraqManifestNode(
                $"craq{number + i + 1}", shape.Host, ports[i], datacenter, Formed: false))],
        });
    }

    private async Task FormAsync(CraqManifestNode node, CraqShape shape, CancellationToken cancellationToken)
    {
        // A folder that was not formed has served nothing.
        if (Directory.Exists(NodePath(node))) Directory.Delete(NodePath(node), recursive: true);
        var isFirst = Manifest.Nodes[0] == node;
        var settings = CraqNodeSettings.Small with
        {
            Datacenter = node.Datacenter,
            Memcached = isFirst ? shape.Memcached : [],
        };
        await NodeInit.JoinAsync(NodePath(node),
            Corfu.Client.ConnectionString.Parse(Manifest.Log).Endpoints, [CraqNodeRole.Instance],
            new NodeListen(node.Endpoint.ToString())
            {
                Certs = shape.Authority is { } authority
                    ? ClusterCertificates.ProvideNode(authority, NodePath(node), node.Host)
                    : null,
                Insecure = shape.Insecure,
            },
            ImmutableDictionary<string, JsonElement>.Empty.Add(
                CraqNodeRole.Instance.Name, settings.ToJson()), cancellationToken);
    }

    // The listeners of a node are its operator's once it is formed.
    private void RequireMemcached(CraqShape shape)
    {
        if (shape.Memcached.IsEmpty || Manifest.Nodes is not [{ Formed: true } first, ..]) return;
        var role = NodeConfig.Load(ConfigPath(first), Roles).Roles.First(own => own.Role == CraqNodeRole.Instance.Role);
        var there = CraqNodeSettings.Read(role.Settings).Memcached;
        if (!there.IsDefault && there.ToHashSet().SetEquals(shape.Memcached)) return;
        throw new NodeStartException($"{Path} has nodes already, and listeners are chosen with the first one: "
            + $"'{string.Join(", ", shape.Memcached)}' would have no effect. Write them to 'memcached' in "
            + $"{ConfigPath(first)} and start that node again.");
    }

    private void RequireAuthority(CraqShape shape)
    {
        var isTls = Corfu.Client.ConnectionString.Parse(Manifest.Log).IsTls;
        if (isTls == shape.Authority is not null) return;
        // Nodes that are there keep the certificates that they have.
        if (isTls && Manifest.Nodes.All(node => node.Formed)) return;
        throw new NodeStartException(isTls
            ? $"The log {Manifest.Log} has TLS: new nodes need certificates of its authority. Name its folder (--ca)."
            : $"The log {Manifest.Log} has no TLS: nodes with certificates cannot use it.");
    }

    private CraqFolder Save(CraqManifest manifest)
    {
        DurableFile.Replace(System.IO.Path.Combine(Path, ManifestName),
            [.. JsonSerializer.SerializeToUtf8Bytes(manifest, CraqJson.Default.CraqManifest), (byte)'\n']);
        return new CraqFolder(Path, manifest);
    }
}
