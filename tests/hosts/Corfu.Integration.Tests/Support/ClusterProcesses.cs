using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Support;

/// <summary>A cluster of real processes in a folder of its own; whatever of it still runs dies with the test.</summary>
internal sealed class ClusterProcesses : IAsyncDisposable
{
    private const int MostPorts = 16;

    private readonly TempFolder _folder = new();

    public string Folder => _folder.File("cluster");

    public string ConnectionString { get; private set; } = "";

    public static async Task<ClusterProcesses> UpAsync(int units, int replicas)
    {
        var cluster = new ClusterProcesses();
        try
        {
            await cluster.UpAgainAsync("--units", $"{units}", "--replicas", $"{replicas}");
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    /// <summary>Three units, two replicas, and whatever else is asked for.</summary>
    public static async Task<ClusterProcesses> UpAsync(params string[] more)
    {
        var cluster = new ClusterProcesses();
        try
        {
            await cluster.UpAgainAsync(more);
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    /// <summary>Reads the layout until its newest projection is as wanted.</summary>
    public async Task<Projection> WaitForAsync(CorfuClient client, Func<Projection, bool> wanted, TimeSpan patience)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var projection = await client.Cluster.RefreshAsync();
            if (wanted(projection)) return projection;
            if (TimeProvider.System.GetElapsedTime(began) < patience) continue;
            var logs = Directory.EnumerateFiles(Folder, "*.log", SearchOption.AllDirectories)
                .SelectMany(
                    file => File.ReadLines(file).TakeLast(10).Select(line => Path.GetFileName(file) + ": " + line));
            Assert.Fail(
                $"After {patience.TotalSeconds} s: {projection}: {projection.Reason}\n{string.Join('\n', logs)}");
        }
    }

    /// <summary>Sends a signal by name.</summary>
    public static void Signal(int processId, string signal)
    {
        using var kill = Process.Start("kill",
            ["-" + signal, processId.ToString(CultureInfo.InvariantCulture)]);
        kill.WaitForExit();
    }

    public async Task<ToolResult> UpAgainAsync(params string[] more)
    {
        // A cluster chooses ports once, for good.
        string[] ports = Directory.Exists(Folder)
            ? []
            : ["--port", TestPorts.Take(MostPorts).ToString(CultureInfo.InvariantCulture)];
        var result = (await CorfuTool.RunAsync(["cluster", "up", "--dir", Folder, .. ports, .. more])).Require();
        ConnectionString = result.Lines[0];
        return result;
    }

    /// <summary>The nodes that a status query finds running, by name.</summary>
    public async Task<Dictionary<string, int>> ProcessIdsAsync()
    {
        var result = await CorfuTool.RunAsync("cluster", "status", "--dir", Folder, "--json");
        using var json = JsonDocument.Parse(result.Output);
        var ids = new Dictionary<string, int>();
        foreach (var role in json.RootElement.GetProperty("roles").EnumerateArray())
        {
            if (role.TryGetProperty("processId", out var id))
                ids[role.GetProperty("node").GetString()!] = id.GetInt32();
        }

        return ids;
    }

    /// <summary>SIGKILL, and the certainty that the process is gone.</summary>
    public static async Task KillAsync(params IEnumerable<int> processIds)
    {
        foreach (var id in processIds)
        {
            using var process = Process.GetProcessById(id);
            process.Kill();
            await NodeProcess.WaitForEndAsync(process, TimeProvider.System, default);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Directory.Exists(Folder))
        {
            await CorfuTool.RunAsync("cluster", "down", "--dir", Folder);
            // A test that broke the cluster may have broken 'down' too.
            await KillAsync((await ProcessIdsOrNoneAsync()).Values);
        }

        _folder.Dispose();
    }

    private async Task<Dictionary<string, int>> ProcessIdsOrNoneAsync()
    {
        try
        {
            return await ProcessIdsAsync();
        }
        catch (JsonException)
        {
            return [];
        }
    }
}
