using System.Diagnostics;
using System.Text.Json.Nodes;

namespace Corfu.Integration.Tests.Support;

/// <summary>Nodes made and run one by one, as on several machines; whatever of them still runs dies with the
/// test.</summary>
internal sealed class LocalNodes : IDisposable
{
    private readonly TempFolder _folder = new();
    private readonly Dictionary<string, Process> _running = [];

    public string PathOf(string name) => _folder.File(name);

    /// <summary>The first node of a cluster.</summary>
    public async Task InitAsync(string name, string listen)
    {
        (await CorfuTool.RunAsync("cluster", "init", "--dir", PathOf(name), "--listen", listen)).Require();
        await StartAsync(name);
    }

    /// <param name="limits">As in <c>node.json</c>.</param>
    public async Task JoinAsync(string name, string join, string listen, string roles = "unit,acceptor",
        string? limits = null)
    {
        (await CorfuTool.RunAsync("node", "init", "--dir", PathOf(name), "--join", join, "--roles", roles, "--listen",
            listen)).Require();
        if (limits is not null) SetLimits(name, limits);
        await StartAsync(name);
    }

    private void SetLimits(string name, string limits)
    {
        var file = Path.Combine(PathOf(name), "node.json");
        var config = JsonNode.Parse(File.ReadAllText(file))!;
        config["limits"] = JsonNode.Parse(limits);
        File.WriteAllText(file, config.ToJsonString());
    }

    /// <param name="before">The words that run the node elsewhere, as <see cref="Hosts.On"/>.</param>
    public async Task StartAsync(string name, string[]? before = null)
    {
        var process = CorfuTool.StartOn(before ?? [], "node", "--config", Path.Combine(PathOf(name), "node.json"));
        _running[name] = process;
        var line = await process.StandardOutput.ReadLineAsync();
        Assert.True(line?.StartsWith("serving ", StringComparison.Ordinal) == true,
            line ?? await process.StandardError.ReadToEndAsync());
    }

    /// <summary>A signal that ends it, and the certainty that the process is gone.</summary>
    public async Task StopAsync(string name, string signal = "TERM")
    {
        _running.Remove(name, out var process);
        ClusterProcesses.Signal(process!.Id, signal);
        await process.WaitForExitAsync();
        process.Dispose();
    }

    public void Dispose()
    {
        foreach (var process in _running.Values)
        {
            process.Kill();
            process.WaitForExit();
            process.Dispose();
        }

        _folder.Dispose();
    }
}
