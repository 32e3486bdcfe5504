using Salus;
using System.Globalization;
using System.Text.Json;
using Salus.Coordination;
using Salus.Hosting;

namespace Corfu.Cli;

/// <summary>Prints volumes.</summary>
internal static class VolumeReport
{
    private const int MostNotes = 8;

    public static Task WriteListAsync(TextWriter output, SalusLog salus, ImmutableArray<VolumeCondition> volumes,
        bool json) => json
        ? output.WriteLineAsync(JsonSerializer.Serialize(
            [.. volumes.Select(volume => VolumeJson.Of(volume, StateOf(salus, volume)))],
            SalusCliJson.Indented.VolumeJsonArray))
        : TextTable.WriteAsync(output,
            ["VOLUME", "SIZE", "BLOCK", "COPIES", "REGIONS", "SNAPSHOTS", "STATE", "NOTE"],
            volumes.Select(volume => new[]
            {
                volume.Name,
                ByteText.Of(volume.Entry.Geometry.Size),
                ByteText.Of(volume.Entry.Geometry.BlockSize),
                Text(volume.Entry.Geometry.Copies),
                Text(volume.Entry.Geometry.Regions),
                Text(StateOf(salus, volume).Head.Snapshots.Length),
                WordOf(volume.Health),
                volume.Notes.Length switch
                {
                    0 => "",
                    1 => volume.Notes[0],
                    var notes => $"{volume.Notes[0]} (and {Text(notes - 1)} more)",
                },
            }));

    public static async Task WriteAsync(TextWriter output, SalusLog salus, VolumeCondition volume, bool json)
    {
        var state = StateOf(salus, volume);
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(
                VolumeJson.Of(volume, state), SalusCliJson.Indented.VolumeJson));
            return;
        }

        await WriteListAsync(output, salus, [volume with { Notes = [] }], json: false);
        await output.WriteLineAsync();
        await TextTable.WriteAsync(output, ["REGION", "GENERATION", "STATE", "MEMBERS"],
            state.Regions.Select(region => new[]
            {
                Text(region.Key),
                Text(region.Value.Current.Number.Value),
                WordOf(region.Value),
                string.Join(" -> ", region.Value.Current.Members.Select(member =>
                    member.Store + (member.IsFilled ? "" : " (copying)"))),
            }));
        await output.WriteLineAsync();
        if (state.Head.Note is { } note)
            await output.WriteLineAsync($"batch {Text(note.Batch.Number)} of run {Text(note.Batch.Run)} is committed");
        foreach (var snapshot in state.Head.Snapshots)
            await output.WriteLineAsync($"snapshot {snapshot.Name}: {WordOf(snapshot.State)}");
        foreach (var text in volume.Notes.Take(MostNotes)) await output.WriteLineAsync(text);
        if (volume.Notes.Length > MostNotes)
            await output.WriteLineAsync($"{Text(volume.Notes.Length - MostNotes)} more of the kind, all by --json");
        await output.WriteLineAsync(IsWell(volume) ? "it serves" : $"it does not serve: {WordOf(volume.Health)}");
    }

    /// <param name="name">The volume, or a snapshot of it.</param>
    public static async Task<ImmutableArray<StoreCopy>> CopiesAsync(
        SalusConnection salus, string name, CancellationToken cancellationToken) =>
        await salus.Log.Map.Directory.FindAsync(name.Split('@')[0], cancellationToken) is { } entry
            ? await salus.CopiesAsync(entry.Id, cancellationToken)
            : [];

    /// <summary>Whether requests to the volume are served.</summary>
    public static bool IsWell(VolumeCondition volume) => volume.Health == VolumeHealth.Ready;

    public static string WordOf<T>(T word)
        where T : struct, Enum => word.ToString().ToLowerInvariant();

    public static string WordOf(RegionState region) => region.Current.Opening is null
        ? "recovering"
        : region.Current.IsAdmitted ? "serves" : "opened";

    private static VolumeState StateOf(SalusLog salus, VolumeCondition volume) =>
        salus.Map.Find(volume.Entry.Id) ?? VolumeState.Empty;

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>A volume as JSON.</summary>
/// <param name="RegionSize">Bytes of each region but the last, which may have fewer.</param>
/// <param name="Committed">The newest batch that the writer has told to be committed.</param>
internal sealed record VolumeJson(string Name, string Id, long Size, int BlockSize, long RegionSize, int Copies,
    string State, IReadOnlyList<string> Notes, long Run, long? Committed, IReadOnlyList<RegionJson> Regions,
    IReadOnlyList<SnapshotJson> Snapshots, IReadOnlyList<LossJson> Losses)
{
    public static VolumeJson Of(VolumeCondition volume, VolumeState state)
    {
        var geometry = volume.Entry.Geometry;
        return new VolumeJson(volume.Name, volume.Entry.Id.Value.ToString("D"), geometry.Size, geometry.BlockSize,
            (long)geometry.RegionBlocks * geometry.BlockSize, geometry.Copies, VolumeReport.WordOf(volume.Health),
            volume.Notes, state.Head.Run, state.Head.Note?.Batch.Number,
            [.. state.Regions.Select(region => new RegionJson(region.Key, region.Value.Current.Number.Value,
                VolumeReport.WordOf(region.Value),
                [.. region.Value.Current.Members.Select(member => new RegionMemberJson(
                    member.Store.Value.ToString("D"), member.Incarnation.Value.ToString("D"), member.IsFilled))]))],
            [.. state.Head.Snapshots.Select(SnapshotJson.Of)],
            [.. state.Head.Losses.Select(LossJson.Of)]);
    }
}

internal sealed record RegionJson(int Region, long Generation, string State, IReadOnlyList<RegionMemberJson> Members);

internal sealed record RegionMemberJson(string Store, string Incarnation, bool Filled);

internal sealed record SnapshotJson(string Name, long Batch, string State)
{
    public static SnapshotJson Of(SnapshotEntry snapshot) =>
        new(snapshot.Name, snapshot.Marker.Number, VolumeReport.WordOf(snapshot.State));
}

/// <summary>Acknowledged batches that an operator has given up.</summary>
internal sealed record LossJson(long First, long Last, string By, DateTimeOffset At)
{
    public static LossJson Of(VolumeLoss loss) => new(loss.Kept.Number + 1, loss.Proven.Number, loss.By,
        DateTimeOffset.FromUnixTimeMilliseconds(loss.UnixMilliseconds));
}
