using System.Text.Json.Nodes;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.Hosting;
using Salus.Hosting;

namespace Corfu.FaultRuns.Volumes.Nodes;

/// <summary>Salus nodes as processes, one namespace each, over a log of processes, as <c>corfu salus up</c> makes them,
/// with one volume.</summary>
internal sealed class VolumeRig(UndoList undo, ClusterRig log, int nodes)
{
    public const string Volume = "v";

    // Small, so that writes meet, and cross from one region to the next.
    private const string Size = "4M";
    private const string Region = "1M";

    // Hosts of the network: the log's nodes come first, clients from 101 on.
    private const int FirstHost = 31;

    private readonly string _folder = Path.Combine(undo.Folder, "salus");
    private readonly HostedNodes _nodes = new(undo, log);
    private Child? _watch;

    public ClusterRig Log => log;

    public IReadOnlyList<HostedNode> Nodes => _nodes.All;

    public string Folder => _folder;

    /// <summary>The last line of <see cref="VolumeWatch"/>.</summary>
    public string State => _watch?.LastLine ?? "";

    public string FolderOf(HostedNode node) => Path.GetDirectoryName(node.Config)!;

    public static async Task<int> FormAsync(string folder, string connect, int count)
    {
        await SalusFolder.OpenOrCreateAsync(folder, new SalusShape(connect) { Nodes = count, Insecure = true });
        return 0;
    }

    /// <summary>Makes the nodes' folders, starts the nodes, and makes the volume.</summary>
    public async Task CreateAsync()
    {
        Directory.CreateDirectory(_folder);
        var ports = new ClusterShape().FreePorts(nodes, []);
        var manifest = new JsonObject
        {
            ["format"] = SalusManifest.CurrentFormat,
            ["log"] = log.Connection,
            ["nodes"] = new JsonArray([.. Enumerable.Range(0, nodes).Select(i => (JsonNode)new JsonObject
            {
                ["name"] = $"salus{i + 1}",
                ["host"] = log.Network is null ? "127.0.0.1" : Network.Address(FirstHost + i),
                ["port"] = ports[i],
                ["formed"] = false,
            })]),
        };
        // The tool makes nodes on one address; here each has its own. As if the folder's creation had been interrupted.
        await File.WriteAllTextAsync(Path.Combine(_folder, "salus.json"), manifest.ToJsonString());
        for (var i = 0; i < nodes && log.Network is { } network; i++)
            await network.AddAsync($"salus{i + 1}", FirstHost + i);
        var (code, output) = await log.SelfAsync(
            "salus-form", "--folder", _folder, "--connect", log.Connection, "--count", $"{nodes}");
        if (code != 0) throw new RunException($"The nodes' folders cannot be made: {output}");
        var folder = SalusFolder.Open(_folder);
        foreach (var (node, i) in folder.Manifest.Nodes.Select((node, i) => (node, i)))
            _nodes.All.Add(new HostedNode(node.Name, FirstHost + i, node.Port, folder.ConfigPath(node)));
        if (await UpAsync() is { } trouble) throw new RunException(trouble);
        (code, output) = await log.ToolAsync("salus", "up", "--dir", _folder, "--servers", $"{nodes}");
        if (code != 0) throw new RunException($"salus up: {output}");
        (code, output) = await log.ToolAsync("volume", "create", Volume, "--connect", log.Connection, "--size", Size,
            "--region", Region);
        if (code != 0) throw new RunException($"volume create: {output}");
        _watch = Child.Start(undo, log.HubNamespace, "Corfu.FaultRuns", [], "dotnet", ClusterRig.Self, "salus-watch",
            "--connect", log.Connection);
    }

    /// <inheritdoc cref="HostedNodes.UpAsync"/>
    public Task<string?> UpAsync() => _nodes.UpAsync();

    public async Task<string> StatusAsync() =>
        (await log.ToolAsync("salus", "status", "--connect", log.Connection)).Output
        + (await log.ToolAsync("volume", "status", Volume, "--connect", log.Connection)).Output;
}
