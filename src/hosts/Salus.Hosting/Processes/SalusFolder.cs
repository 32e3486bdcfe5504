using System.Text.Json;
using Corfu.Client;
using Corfu.Storage;

namespace Salus.Hosting;

/// <summary>The nodes of a new folder.</summary>
/// <param name="Log">The connection string of the log that coordinates them.</param>
public sealed record SalusShape(string Log)
{
    /// <summary>A volume with three copies needs three; with more, others take the places of nodes that are gone.
    /// Default 3.</summary>
    public int Nodes { get; init; } = 3;

    /// <summary>The address of all nodes.</summary>
    public string Host { get; init; } = "127.0.0.1";

    /// <summary>The folder of the log's certificate authority, which issues the nodes' certificates and renews them.
    /// Null where the log has no TLS, and where nodes that are there keep what they have.</summary>
    public string? Authority { get; init; }

    /// <inheritdoc cref="NodeListen.Insecure"/>
    public bool Insecure { get; init; }

    /// <summary>An address at which the first node, if it is new, serves every volume over NBD. Null: none
    /// does.</summary>
    public string? Nbd { get; init; }
}

/// <summary>Salus nodes on one machine: <c>salus.json</c> and, per node, a folder with <c>node.json</c>, its log file
/// and its data. Embedded nodes and processes share the layout.</summary>
public sealed class SalusFolder
{
    private const string ManifestName = "salus.json";
    private const string ConfigName = "node.json";

    private SalusFolder(string path, SalusManifest manifest) => (Path, Manifest) = (path, manifest);

    /// <summary>The roles that embedded nodes know.</summary>
    public static NodeRoles Roles { get; } = NodeRoles.Log.With(SalusNodeRole.Instance);

    public string Path { get; }

    public SalusManifest Manifest { get; }

    public static bool Exists(string path) => File.Exists(System.IO.Path.Combine(path, ManifestName));

    /// <exception cref="NodeStartException">No nodes there, or a damaged file.</exception>
    public static SalusFolder Open(string path)
    {
        var full = System.IO.Path.GetFullPath(path);
        if (!Exists(full))
            throw new NodeStartException($"There are no Salus nodes in {full}: {ManifestName} is missing. "
                + $"'corfu salus up --dir {full}' makes some.");
        var file = System.IO.Path.Combine(full, ManifestName);
        try
        {
            var manifest = JsonSerializer.Deserialize(
                File.ReadAllBytes(file), SalusJson.Default.SalusManifest);
            return manifest is { Format: SalusManifest.CurrentFormat, Nodes.IsDefaultOrEmpty: false }
                ? new SalusFolder(full, manifest)
                : throw new NodeStartException($"The file {file} names no nodes, or is of another version.");
        }
        catch (JsonException e)
        {
            throw new NodeStartException($"The file {file} is not valid: {e.Message}", e);
        }
    }

    /// <summary>Opens the nodes of the folder, or makes new ones, and adds those that the shape has more. An
    /// interrupted creation is finished.</summary>
    /// <exception cref="NodeStartException">The folder holds something else, or cannot be written; the log does not
    /// answer.</exception>
    public static async Task<SalusFolder> OpenOrCreateAsync(
        string path, SalusShape shape, CancellationToken cancellationToken = default)
    {
        var full = System.IO.Path.GetFullPath(path);
        try
        {
            var folder = Exists(full) ? Open(full) : new SalusFolder(full, new SalusManifest(
                SalusManifest.CurrentFormat, shape.Log, []));
            PrivateFolder.Create(full);
            folder = folder.Extend(shape);
            folder.RequireAuthority(shape);
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

    public string ConfigPath(SalusManifestNode node) => System.IO.Path.Combine(Path, node.Name, ConfigName);

    public string NodePath(SalusManifestNode node) => System.IO.Path.Combine(Path, node.Name);

    // The manifest is saved before any folder is made: a name that stands in it is never given to another node.
    private SalusFolder Extend(SalusShape shape)
    {
        var there = Manifest.Nodes.Length;
        if (there >= shape.Nodes) return this;
        var taken = Manifest.Nodes.Select(node => node.Port).ToImmutableArray();
        var ports = new ClusterShape { Host = shape.Host }.FreePorts(shape.Nodes - there, taken);
        return Save(Manifest with
        {
            Nodes = [.. Manifest.Nodes, .. ports.Select((port, i) => new SalusManifestNode(
                $"salus{there + i + 1}", shape.Host, port, Formed: false))],
        });
    }

    private async Task FormAsync(SalusManifestNode node, SalusShape shape, CancellationToken cancellationToken)
    {
        // A folder that was not formed has served nothing.
        if (Directory.Exists(NodePath(node))) Directory.Delete(NodePath(node), recursive: true);
        await NodeInit.JoinAsync(NodePath(node), ConnectionString.Parse(Manifest.Log).Endpoints,
            [SalusNodeRole.Instance],
            new NodeListen(node.Endpoint.ToString())
            {
                Certs = shape.Authority is { } authority
                    ? ClusterCertificates.ProvideNode(authority, NodePath(node), node.Host)
                    : null,
                Insecure = shape.Insecure,
                FrontEnds = shape.Nbd is { } nbd && node == Manifest.Nodes[0]
                    ? [new FrontEndOptions(NbdFrontEnd.KindName, nbd)]
                    : [],
            },
            ImmutableDictionary<string, JsonElement>.Empty.Add(
                SalusNodeRole.Instance.Name, SalusNodeSettings.Small.ToJson()), cancellationToken);
    }

    private void RequireAuthority(SalusShape shape)
    {
        var isTls = ConnectionString.Parse(Manifest.Log).IsTls;
        if (isTls == shape.Authority is not null || Manifest.Nodes.All(node => node.Formed)) return;
        throw new NodeStartException(isTls
            ? $"The log {Manifest.Log} has TLS: new nodes need certificates of its authority. Name its folder (--ca)."
            : $"The log {Manifest.Log} has no TLS: nodes with certificates cannot use it.");
    }

    private SalusFolder Save(SalusManifest manifest)
    {
        DurableFile.Replace(System.IO.Path.Combine(Path, ManifestName),
            [.. JsonSerializer.SerializeToUtf8Bytes(manifest, SalusJson.Default.SalusManifest), (byte)'\n']);
        return new SalusFolder(Path, manifest);
    }
}
