using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;
using Salus;
using Salus.Coordination;
using Salus.Hosting;

namespace Corfu.Cli;

/// <summary>Nodes and volumes, for people and for programs.</summary>
internal sealed record SalusReport(
    string Log, NodeBookView Nodes, ImmutableArray<VolumeCondition> Volumes, SalusFolder? Folder)
{
    /// <summary>The most copies that a new volume can have here.</summary>
    public int Copies => Math.Min(3, Nodes.Stores.Values.Count(node => node.State == BookedState.Live));

    public bool IsWell => Nodes.Stores.Values.All(node => node.State == BookedState.Live)
        && Volumes.All(VolumeReport.IsWell);

    /// <param name="folder">The folder of the nodes, where they run on this machine; null: they may be
    /// anywhere.</param>
    public static async Task<SalusReport> ReadAsync(
        SalusLog salus, string log, SalusFolder? folder, CancellationToken cancellationToken) =>
        new(log, await salus.Admin.NodesAsync(cancellationToken), await salus.Admin.ListAsync(cancellationToken),
            folder);

    public async Task WriteAsync(TextWriter output, bool json)
    {
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(
                SalusJson.Of(this), SalusCliJson.Indented.SalusJson));
            return;
        }

        await output.WriteLineAsync(Log);
        await output.WriteLineAsync();
        await TextTable.WriteAsync(output, ["NODE", "STORE", "ENDPOINT", "DOMAIN", "STATE", "FREE", "PROCESS"],
            Nodes.Stores.Values.OrderBy(node => node.Endpoint).Select(node => new[]
            {
                NameOf(node)?.Name ?? "-",
                node.Store.ToString(),
                node.Endpoint.ToString(),
                node.Domain.Length > 0 ? node.Domain : "-",
                node.State.ToString().ToLowerInvariant(),
                ByteText.Of(node.Free),
                ProcessOf(node),
            }));
        await output.WriteLineAsync();
        await output.WriteLineAsync(Verdict());
    }

    /// <summary>Commands that a newcomer needs.</summary>
    /// <param name="nbd">The address at which a node serves every volume; null: none does.</param>
    public async Task WriteNextAsync(TextWriter output, string? nbd)
    {
        var volume = Volumes.FirstOrDefault()?.Name;
        await output.WriteLineAsync();
        await output.WriteLineAsync("next:");
        if (volume is null)
        {
            volume = "disk1";
            var copies = Copies == 3 ? "" : $" --copies {Math.Max(1, Copies)}";
            await output.WriteLineAsync($"  corfu volume create -c {Log} {volume} --size 1G{copies}");
        }

        if (nbd is null)
            await output.WriteLineAsync($"  corfu volume serve -c {Log} {volume} --listen 127.0.0.1:10809");
        await output.WriteLineAsync($"  nbdinfo nbd://{nbd ?? "127.0.0.1:10809"}/{volume}");
    }

    private string Verdict()
    {
        var live = Nodes.Stores.Values.Count(node => node.State == BookedState.Live);
        var text = $"nodes registered: {live}, volumes: {Volumes.Length}";
        var gone = Nodes.Stores.Count - live;
        if (gone > 0)
            text += $"; not registered: {gone}: start them, or 'corfu salus node forget' those that are lost";
        var waiting = Volumes.Count(volume => !VolumeReport.IsWell(volume));
        if (waiting > 0) text += $"; volumes that do not serve: {waiting}: 'corfu volume list' says why";
        return text;
    }

    private SalusManifestNode? NameOf(BookedNode node) =>
        Folder?.Manifest.Nodes.FirstOrDefault(own => own.Endpoint == node.Endpoint);

    private string ProcessOf(BookedNode node) =>
        NameOf(node) is { } own && NodeProcess.RunningIn(Folder!.NodePath(own)) is { } process
            ? process.ToString(CultureInfo.InvariantCulture)
            : "-";
}

/// <summary>Nodes and volumes as JSON.</summary>
internal sealed record SalusJson(string Log, IReadOnlyList<SalusNodeJson> Nodes, IReadOnlyList<string> Volumes,
    bool Well)
{
    public static SalusJson Of(SalusReport report) => new(report.Log,
        [.. report.Nodes.Stores.Values.Select(node => new SalusNodeJson(node.Store.Value.ToString("D"),
            node.Incarnation.Value.ToString("D"), node.Endpoint.ToString(), node.Domain,
            node.State.ToString().ToLowerInvariant(), node.Free))],
        [.. report.Volumes.Select(volume => volume.Name)], report.IsWell);
}

internal sealed record SalusNodeJson(
    string Store, string Incarnation, string Endpoint, string Domain, string State, long Free);

/// <summary>Objects that <c>corfu salus</c> and <c>corfu volume</c> print with <c>--json</c>, under the rules of
/// <see cref="CliJson"/>.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(SalusJson))]
[JsonSerializable(typeof(VolumeJson))]
[JsonSerializable(typeof(VolumeJson[]))]
[JsonSerializable(typeof(VolumeCheckJson))]
[JsonSerializable(typeof(SnapshotJson[]))]
internal sealed partial class SalusCliJson : JsonSerializerContext
{
    /// <summary>Writes one object per line.</summary>
    public static SalusCliJson Lines { get; } = new(CliJsonOptions.Create(indented: false));

    public static SalusCliJson Indented { get; } = new(CliJsonOptions.Create(indented: true));
}
