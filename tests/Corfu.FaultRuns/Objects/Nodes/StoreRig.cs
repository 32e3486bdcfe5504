using System.Text.Json.Nodes;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.Objects.Clients;
using Corfu.Hosting;
using Craq.Hosting;

namespace Corfu.FaultRuns.Objects.Nodes;

/// <summary>CRAQ nodes as processes, one namespace each, over a log of processes, as <c>corfu craq up</c> makes them;
/// killed and started again.</summary>
internal sealed class StoreRig(UndoList undo, ClusterRig log, int nodes, int replicas)
{
    // Hosts of the network: the log's nodes come first, clients from 101 on.
    private const int FirstHost = 31;

    private readonly string _folder = Path.Combine(undo.Folder, "craq");
    private readonly HostedNodes _nodes = new(undo, log);
    private Child? _watch;

    public UndoList Undo => undo;

    public ClusterRig Log => log;

    public IReadOnlyList<HostedNode> Nodes => _nodes.All;

    /// <summary>The connection string of the nodes.</summary>
    public string Connection { get; private set; } = "";

    public string Folder => _folder;

    /// <summary>The chains by the directory in the log: the last line of <see cref="StoreWatch"/>.</summary>
    public string State => _watch?.LastLine ?? "";

    public static async Task<int> FormAsync(string folder, string connect, int count)
    {
        await CraqFolder.OpenOrCreateAsync(folder, Shape(connect, count) with { Insecure = true });
        return 0;
    }

    /// <summary>Makes the nodes' folders, starts the nodes, and lets the tool make the keyspace.</summary>
    public async Task CreateAsync()
    {
        var isAlone = log.Network is not null;
        Directory.CreateDirectory(_folder);
        var ports = new ClusterShape().FreePorts(nodes, []);
        var manifest = new JsonObject
        {
            ["format"] = CraqManifest.CurrentFormat,
            ["log"] = log.Connection,
            ["nodes"] = new JsonArray([.. Enumerable.Range(0, nodes).Select(i => (JsonNode)new JsonObject
            {
                ["name"] = $"craq{i + 1}",
                ["host"] = isAlone ? Network.Address(FirstHost + i) : "127.0.0.1",
                ["port"] = ports[i],
                ["datacenter"] = CraqNodeSettings.DefaultDatacenter,
                ["formed"] = false,
            })]),
        };
        // The tool makes nodes on one address; here each has its own. As if the folder's creation had been interrupted.
        await File.WriteAllTextAsync(Path.Combine(_folder, "craq.json"), manifest.ToJsonString());
        for (var i = 0; i < nodes && isAlone; i++) await log.Network!.AddAsync($"craq{i + 1}", FirstHost + i);
        var (code, output) = await log.SelfAsync(
            "craq-form", "--folder", _folder, "--connect", log.Connection, "--count", $"{nodes}");
        if (code != 0) throw new RunException($"The nodes' folders cannot be made: {output}");
        var folder = CraqFolder.Open(_folder);
        Connection = folder.ConnectionString().ToString();
        foreach (var (node, i) in folder.Manifest.Nodes.Select((node, i) => (node, i)))
            _nodes.All.Add(new HostedNode(node.Name, FirstHost + i, node.Port, folder.ConfigPath(node)));
        if (await UpAsync() is { } trouble) throw new RunException(trouble);
        (code, output) = await log.ToolAsync("craq", "up", "--dir", _folder, "--nodes", $"{nodes}", "--replicas",
            $"{replicas}");
        if (code != 0) throw new RunException($"craq up: {output}");
        for (var i = 0; i < StoreKeys.Chains; i++) await SetAsync(i);
        _watch = Child.Start(undo, log.HubNamespace, "Corfu.FaultRuns", [], "dotnet", ClusterRig.Self, "craq-watch",
            "--connect", log.Connection, "--count", $"{replicas}");
    }

    // Every fourth chain as it is by default; the others with leases, relayed values, or both.
    private async Task SetAsync(int chain)
    {
        string[] options = [.. chain % 2 == 1 ? ["--reads", "leased"] : Array.Empty<string>(),
            .. chain / 2 % 2 == 1 ? ["--values", "relay"] : Array.Empty<string>()];
        if (options.Length == 0) return;
        var (code, output) = await log.ToolAsync(
            ["craq", "chain", "set", StoreKeys.Chain(chain), "--connect", log.Connection, .. options]);
        if (code != 0) throw new RunException($"craq chain set: {output}");
    }

    /// <inheritdoc cref="HostedNodes.UpAsync"/>
    public Task<string?> UpAsync() => _nodes.UpAsync();

    public async Task<string> StatusAsync() =>
        (await log.ToolAsync("craq", "status", "--connect", log.Connection)).Output
        + (await log.ToolAsync("craq", "chain", "list", "--connect", log.Connection)).Output;

    private static CraqShape Shape(string connect, int count) =>
        new(connect) { Datacenters = [(CraqNodeSettings.DefaultDatacenter, count)] };
}
