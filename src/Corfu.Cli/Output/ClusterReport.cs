using System.Globalization;
using System.Text.Json;
using Corfu.Hosting;

namespace Corfu.Cli;

/// <summary>Prints a cluster's state.</summary>
internal static class ClusterReport
{
    public static async Task WriteAsync(TextWriter output, ClusterState state, bool json)
    {
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(ClusterJson.Of(state), CliJson.Indented.ClusterJson));
            return;
        }

        await output.WriteLineAsync(state.ConnectionString);
        await output.WriteLineAsync();
        var rows = new List<string[]> { new[] { "NODE", "ROLE", "IDENTITY", "ENDPOINT", "PROCESS", "STATE", "FOLDER" } };
        rows.AddRange(state.Nodes.Select(node => new[]
        {
            node.Node,
            node.Role.ToString().ToLowerInvariant(),
            node.Id.IsNone ? "-" : node.Id.ToString(),
            node.Endpoint.ToString(),
            node.ProcessId?.ToString(CultureInfo.InvariantCulture) ?? "-",
            (node.Serving ? "serving" : "silent") + (node.Detail.Length > 0 ? $" ({node.Detail})" : ""),
            node.Folder ?? "-",
        }));
        foreach (var line in TextTable.Format(rows)) await output.WriteLineAsync(line);
        await output.WriteLineAsync();
        await output.WriteLineAsync(state.Projection is { } projection
            ? $"epoch {projection.Epoch.Value}, {projection.Active.Chains.Length} chains, {(state.Writable ? "serving" : "not serving")}: {projection.Reason}"
            : "no majority of the layout's acceptors answers");
    }
}
