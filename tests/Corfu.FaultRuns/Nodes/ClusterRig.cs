using System.Text.Json.Nodes;
using Corfu.FaultRuns.Machine;
using Corfu.Hosting;

namespace Corfu.FaultRuns.Nodes;

/// <summary>A node: its namespace, its disk, its process.</summary>
internal sealed class Node(string name, int host, string folder)
{
    public string Name => name;

    public int Host => host;

    public string Folder => folder;

    public int Port { get; set; }

    public LoopDisk? Disk { get; set; }

    public Child? Process { get; set; }

    public Child? Proxy { get; set; }

    public bool IsSequencer => name.StartsWith("sequencer", StringComparison.Ordinal);

    public bool IsUnit =>
        name.StartsWith("unit", StringComparison.Ordinal) || name.StartsWith("spare", StringComparison.Ordinal);
}

/// <summary>A cluster of real processes, one namespace and one disk each, as <c>corfu cluster up</c> makes it; started,
/// killed and started again.</summary>
internal sealed class ClusterRig(UndoList undo, Tools tools, ClusterShape shape, int diskMegabytes)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly string _folder = Path.Combine(undo.Folder, "cluster");
    private bool _formed;

    public UndoList Undo => undo;

    public Network? Network { get; private set; }

    public List<Node> Nodes { get; } = [];

    public string Connection { get; private set; } = "";

    /// <summary>The <c>corfu</c> tool.</summary>
    public static string Tool { get; } = Path.Combine(AppContext.BaseDirectory, "corfu.dll");

    /// <summary>This program.</summary>
    public static string Self { get; } = Path.Combine(AppContext.BaseDirectory, "Corfu.FaultRuns.dll");

    /// <summary>A standby sequencer and spare units, which may take others' places.</summary>
    public bool HasReserves => shape is { Sequencers: > 1, Spares: > 0 };

    public string EndpointOf(Node node) =>
        $"{ClusterFolder.Open(_folder).Manifest.Nodes.Single(n => n.Name == node.Name).Host}:{node.Port}";

    /// <summary>Every node is reached from there.</summary>
    public string? HubNamespace => NamespaceOf("hub");

    public string? NamespaceOf(string name) => Network?.Namespace(name);

    /// <param name="clients">Namespaces for clients.</param>
    /// <param name="proxied">Whether a node gets a proxy before its port.</param>
    public async Task CreateAsync(int clients, Func<int, bool> proxied)
    {
        if (tools.Network) Network = await Network.CreateAsync(undo, tools.Filters);
        var names = Enumerable.Range(0, shape.Units).Select(i => $"unit-{i}")
            .Concat(Enumerable.Range(0, shape.Spares).Select(i => $"spare-{i}"))
            .Concat(Enumerable.Range(0, shape.Sequencers).Select(i => i == 0 ? "sequencer" : $"sequencer-{i}"));
        foreach (var name in names)
        {
            var node = new Node(name, Nodes.Count + 1, Path.Combine(_folder, name));
            Nodes.Add(node);
            if (Network is not null) await Network.AddAsync(name, node.Host);
        }

        for (var i = 0; i < clients && Network is not null; i++) await Network.AddAsync($"clients-{i}", 101 + i);
        var folder = ClusterFolder.OpenOrCreate(_folder, shape, SystemEntropy.Instance);
        foreach (var node in folder.Manifest.Nodes) Nodes.Single(n => n.Name == node.Name).Port = node.Port;
        if (tools.LoopDisks)
        {
            foreach (var node in Nodes.Where(n => n.IsUnit)) await MoveToDiskAsync(node);
        }

        if (Network is not null) Readdress();
        for (var i = 0; i < Nodes.Count && Network is not null; i++)
        {
            if (proxied(i)) await StartProxyAsync(Nodes[i]);
        }

        Connection = ClusterFolder.Open(_folder).Manifest.ConnectionString();
    }

    // The tool makes clusters on one address; here each node has its own.
    private void Readdress() =>
        Form(node => node["host"] = Network.Address(Nodes.Single(n => n.Name == (string)node["name"]!).Host));

    // As if the cluster's creation had been interrupted: folders and configurations are made to fit the manifest, what
    // is formatted stays.
    private void Form(Action<JsonObject> change)
    {
        var path = Path.Combine(_folder, "cluster.json");
        var manifest = JsonNode.Parse(File.ReadAllText(path))!;
        foreach (var node in manifest["nodes"]!.AsArray()) change(node!.AsObject());
        manifest["formed"] = false;
        File.WriteAllText(path, manifest.ToJsonString());
        ClusterFolder.OpenOrCreate(_folder, shape with { Insecure = Network is not null }, SystemEntropy.Instance);
    }

    // A cluster is made in an empty folder, so the disks come afterwards.
    private async Task MoveToDiskAsync(Node node)
    {
        var made = node.Folder + ".made";
        await Shell.RequireAsync($"mv {node.Folder} {made}");
        node.Disk = await LoopDisk.CreateAsync(undo, node.Folder, diskMegabytes);
        await Shell.RequireAsync($"cp -a {made}/. {node.Folder} && sync -f {node.Folder} && rm -r {made}");
    }

    private async Task StartProxyAsync(Node node)
    {
        var port = node.Port + 1 < 40_000 ? 40_000 + (node.Port % 20_000) : node.Port + 1;
        node.Proxy = Child.Start(
            undo, NamespaceOf(node.Name), "Corfu.FaultRuns", [], "dotnet", Self, "proxy", "--port", $"{port}",
            "--target", $"{Network.Address(node.Host)}:{node.Port}");
        if (!await node.Proxy.SaysAsync("ready", Patience))
            throw new RunException($"The proxy of {node.Name} does not start: {node.Proxy.Output}");
        await Network!.RedirectAsync(node.Name, node.Port, port);
    }

    /// <summary>
    /// Starts every node that does not run, then lets the tool do the rest: a new sequencer's take-over, above all.
    /// Agents, where they run, do that themselves.
    /// </summary>
    /// <returns>The fault, or null.</returns>
    public async Task<string?> UpAsync()
    {
        foreach (var node in Nodes.Where(n => n.Process is null or { HasExited: true }))
        {
            node.Process = Start(node, []);
        }

        foreach (var node in Nodes)
        {
            if (!await node.Process!.SaysAsync("serving ", Patience))
                return $"{node.Name} does not start: {node.Process.Output}";
        }

        if (shape.Automatic && _formed) return null;
        var (code, output) = await ToolAsync("cluster", "up", "--dir", _folder);
        _formed = true;
        return code == 0 ? null : $"cluster up: {output.Trim()}";
    }

    public Child Start(Node node, IEnumerable<string> before) =>
        Child.Start(undo, NamespaceOf(node.Name), "corfu.dll", before, "dotnet", Tool, "node", "--config",
            Path.Combine(node.Folder, "node.json"));

    /// <summary>The reason of every epoch, oldest first; null when no acceptor answers.</summary>
    public async Task<IReadOnlyList<string>?> HistoryAsync()
    {
        var (code, output) = await ToolAsync("history", "--connect", Connection, "--count", "100000", "--json");
        if (code != 0) return null;
        return [.. output.Split('\n').Where(l => l.StartsWith('{')).Reverse()
            .Select(l => (string?)JsonNode.Parse(l)!["projection"]!["reason"] ?? "")];
    }

    public async Task<string> StatusAsync() => (await ToolAsync("cluster", "status", "--dir", _folder)).Output;

    public Task<(int Code, string Output)> ToolAsync(params string[] arguments) =>
        RunInHubAsync(["dotnet", Tool, .. arguments]);

    public Task<(int Code, string Output)> SelfAsync(params string[] arguments) =>
        RunInHubAsync(["dotnet", Self, .. arguments]);

    private Task<(int Code, string Output)> RunInHubAsync(string[] words)
    {
        string[] command = [.. Machine.Network.Enter(HubNamespace), .. words];
        return Shell.RunAsync(command[0], command[1..]);
    }
}
