using System.Diagnostics;
using System.Text.Json;

namespace Corfu.Integration.Tests.Support;

/// <summary>A cluster of real processes in a folder of its own; whatever of it still runs dies with the test.</summary>
internal sealed class ClusterProcesses : IAsyncDisposable
{
    private readonly TempFolder _folder = new();

    public string Folder => _folder.File("cluster");

    public string ConnectionString { get; private set; } = "";

    public static async Task<ClusterProcesses> UpAsync(int units = 3, int replicas = 2)
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

    public async Task<ToolResult> UpAgainAsync(params string[] more)
    {
        var result = (await CorfuTool.RunAsync(["cluster", "up", "--dir", Folder, .. more])).Require();
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
            if (role.TryGetProperty("processId", out var id)) ids[role.GetProperty("node").GetString()!] = id.GetInt32();
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
            await process.WaitForExitAsync();
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
