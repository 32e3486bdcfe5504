using System.Globalization;
using System.Text.Json;
using Craq;
using Craq.Hosting;

namespace Corfu.Cli;

/// <summary>Prints nodes and chains.</summary>
internal static class CraqReport
{
    /// <param name="folder">The folder of the nodes, where they run on this machine; null: they may be
    /// anywhere.</param>
    public static async Task WriteAsync(TextWriter output, string? nodes, string log, CraqOverview overview,
        CraqFolder? folder, bool json)
    {
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(
                CraqJson.Of(nodes, log, overview), CraqCliJson.Indented.CraqJson));
            return;
        }

        if (nodes is not null) await output.WriteLineAsync(nodes);
        await output.WriteLineAsync($"log: {log}");
        await output.WriteLineAsync();
        await TextTable.WriteAsync(output, ["NODE", "IDENTITY", "DATACENTER", "ENDPOINT", "STATE", "CHAINS", "PROCESS"],
            overview.Nodes.Select(node => new[]
            {
                NameOf(folder, node)?.Name ?? "-",
                node.Id.ToString(),
                node.Datacenter,
                node.Endpoint.ToString(),
                node.State.ToString().ToLowerInvariant(),
                node.Chains.ToString(CultureInfo.InvariantCulture),
                NameOf(folder, node) is { } own
                    ? NodeProcess.RunningIn(folder!.NodePath(own))?.ToString(CultureInfo.InvariantCulture) ?? "-"
                    : "-",
            }));
        await output.WriteLineAsync();
        await output.WriteLineAsync(VerdictOf(overview));
    }

    public static Task WriteChainsAsync(TextWriter output, CraqOverview overview, bool json)
    {
        CraqChainJson[] chains = [.. overview.Chains.Select(CraqChainJson.Of)];
        return json
            ? output.WriteLineAsync(JsonSerializer.Serialize(chains, CraqCliJson.Indented.CraqChainJsonArray))
            : TextTable.WriteAsync(output, ["CHAIN", "EPOCH", "STATE", "MEMBERS", "PROTOCOL", "READS", "VALUES"],
                chains.Select(chain => new[]
                {
                    chain.Name,
                    chain.Epoch.ToString(CultureInfo.InvariantCulture),
                    chain.Open ? "open" : "opening",
                    string.Join(" -> ", chain.Members.Select(member => $"{member.Node[..8]}({member.Datacenter})")),
                    chain.Protocol,
                    chain.Reads,
                    chain.Values,
                }));
    }

    /// <summary>Whether every chain is open and all its members are registered.</summary>
    public static bool IsWell(CraqOverview overview) => overview.Chains.All(chain =>
        chain.IsRecordedOpen && chain.Members.All(member => IsThere(overview, member.Node)));

    private static string VerdictOf(CraqOverview overview)
    {
        var opening = overview.Chains.Count(chain => !chain.IsRecordedOpen);
        var lacking = overview.Chains.Count(
            chain => chain.Members.Any(member => !IsThere(overview, member.Node)));
        var keyspaces = overview.Keyspaces.IsEmpty
            ? "no keyspaces"
            : "keyspaces " + string.Join(", ", overview.Keyspaces.Select(own => $"{own.Name} ({own.Chains.Length})"));
        var text = $"{overview.Chains.Length} chains, {keyspaces}";
        if (opening > 0) text += $"; {opening} chains are not open";
        if (lacking > 0) text += $"; {lacking} chains have members that are not registered";
        return text;
    }

    private static bool IsThere(CraqOverview overview, NodeId node) =>
        overview.Find(node) is { State: not CraqNodeState.Gone };

    private static CraqManifestNode? NameOf(CraqFolder? folder, CraqNodeInfo node) =>
        folder?.Manifest.Nodes.FirstOrDefault(own => own.Endpoint == node.Endpoint);
}

/// <summary>Nodes, chains and keyspaces as JSON.</summary>
internal sealed record CraqJson(string? ConnectionString, string Log, IReadOnlyList<CraqNodeJson> Nodes,
    IReadOnlyList<CraqChainJson> Chains, IReadOnlyDictionary<string, int> Keyspaces, bool Well)
{
    public static CraqJson Of(string? nodes, string log, CraqOverview overview) => new(nodes, log,
        [.. overview.Nodes.Select(node => new CraqNodeJson(node.Id.ToString(), node.Datacenter,
            node.Endpoint.ToString(), node.State.ToString().ToLowerInvariant(), node.Chains))],
        [.. overview.Chains.Select(CraqChainJson.Of)],
        overview.Keyspaces.ToDictionary(own => own.Name, own => own.Chains.Length), CraqReport.IsWell(overview));
}

internal sealed record CraqNodeJson(string Id, string Datacenter, string Endpoint, string State, int Chains);

internal sealed record CraqChainJson(string Name, string Id, long Epoch, bool Open,
    IReadOnlyList<CraqMemberJson> Members, string Protocol, string Reads, string Values)
{
    public static CraqChainJson Of(ChainConfig chain) => new(chain.Name, chain.Id.ToString(), chain.Epoch.Value,
        chain.IsRecordedOpen,
        [.. chain.Members.Select(member => new CraqMemberJson(member.Node.ToString(), member.Datacenter))],
        chain.Options.Protocol.ToString().ToLowerInvariant(), chain.Options.Reads.ToString().ToLowerInvariant(),
        chain.Options.Values.ToString().ToLowerInvariant());
}

internal sealed record CraqMemberJson(string Node, string Datacenter);
