using System.Globalization;
using System.Text.Json;

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
        if (GrpcNodeFrontEnd.AddressesIn(state) is { Count: > 0 } grpc)
            await output.WriteLineAsync(string.Join(',', grpc));
        if (ZooKeeperNodeFrontEnd.AddressesIn(state) is { } zooKeeper)
            await output.WriteLineAsync($"zookeeper: {zooKeeper}");
        if (EtcdNodeFrontEnd.AddressesIn(state) is { } etcd) await output.WriteLineAsync($"etcd: {etcd}");
        if (state.AdminConnectionString is { } admin) await output.WriteLineAsync($"administrators: {admin}");
        await output.WriteLineAsync();
        string[] header = ["NODE", "ROLE", "IDENTITY", "ENDPOINT", "PROCESS", "DUTY", "STATE", "FOLDER"];
        await TextTable.WriteAsync(output, header, state.Nodes.Select(node => new[]
        {
            node.Node.Length == 0 ? "-" : node.Node,
            node.Role.ToString().ToLowerInvariant(),
            node.Id.IsNone ? "-" : node.Id.ToString(),
            node.Endpoint.ToString(),
            node.ProcessId?.ToString(CultureInfo.InvariantCulture) ?? "-",
            node.Duty,
            (node.Serving ? "answers" : "silent") + (node.Detail.Length > 0 ? $" ({node.Detail})" : ""),
            node.Folder ?? "-",
        }));
        await output.WriteLineAsync();
        if (state.Projection is { } projection)
            await output.WriteLineAsync(
                $"epoch {projection.Epoch.Value}, {projection.Active.Chains.Length} chains: {projection.Reason}");
        await output.WriteLineAsync(state.Verdict.ToString());
    }
}
