using System.Globalization;
using System.Text;
using System.Text.Json;
using Corfu.Unit;

namespace Corfu.Cli;

/// <summary><c>corfu log salvage</c>.</summary>
internal static class LogSalvageCommand
{
    private const int Batch = 256;
    private const int ShownRanges = 20;

    private const string Description =
        """
        Find entries in a unit's folder that the log has lost: after 'reconfigure replace-destroyed' gave them up, or
        after the cluster was destroyed. The unit must be stopped; a kept folder (unit.kept-ID) and a damaged one will
        do. Without --to it only reports. Nothing is changed, neither in the folder nor in the log: what was decided at
        a position stays. An entry may be among them that was never acknowledged.
        """;

    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        connect.Required = false;
        connect.Description = "The cluster; entries that its log has are left out. Without it every entry counts.";
        var from = CommonOptions.FolderOption("--from", "A unit's folder, such as CLUSTER/unit-1/unit.kept-ID.");
        var to = new Option<FileInfo>("--to")
        {
            Description = "Write the lost entries to a new file, one JSON object a line, as 'log dump --json' does.",
            HelpName = "FILE",
        };
        var command = new Command("salvage", Description) { connect, from, to };
        command.SetAction(async (result, cancellationToken) =>
        {
            var output = result.InvocationConfiguration.Output;
            var units = UnitCommand.UnitsIn(result.GetRequiredValue(from));
            if (units.Count > 1)
                throw new UsageException($"Several units: give the folder of one, {string.Join(" or ", units)}.");
            using var unit = await UnitSalvage.OpenAsync(units[0]);
            var positions = unit.Positions.ToList();
            await output.WriteLineAsync(
                $"unit {unit.Identity.Unit} of cluster {unit.Identity.Cluster}: {positions.Count} entries");
            var lost = result.GetValue(connect) is { } text
                ? await FindLostAsync(text, unit, positions, cancellationToken)
                : positions;
            await output.WriteLineAsync($"lost: {lost.Count}{Ranges(lost)}");
            if (result.GetValue(to) is { } file) await ExportAsync(unit, lost, file, cancellationToken);
            return ExitCode.Ok;
        });
        return command;
    }

    /// <summary>Positions of which the log has neither this entry nor a trim.</summary>
    private static async Task<List<LogPosition>> FindLostAsync(
        string connect, UnitSalvage unit, List<LogPosition> positions, CancellationToken cancellationToken)
    {
        await using var client = await Connections.ConnectAsync(connect, cancellationToken);
        if (client.Projection.Cluster != unit.Identity.Cluster)
            throw new UsageException(
                $"The folder belongs to the cluster {unit.Identity.Cluster}, not {client.Projection.Cluster}.");
        var tail = (await client.CheckAsync([], ReadConsistency.Linearizable, cancellationToken)).Tail;
        List<LogPosition> lost = [];
        foreach (var batch in positions.Where(position => position < tail).Chunk(Batch))
        {
            // Observed, so that no hole is filled and no replica is mended on behalf of a report.
            var pages = await client.ReadManyAsync([.. batch], ReadDetail.Full, ReadMode.Observe, cancellationToken);
            foreach (var page in pages)
            {
                if (page.State == PageState.Trimmed) continue;
                if (page.IsData && page.Entry!.Origin == (await unit.ReadAsync(page.Position)).Origin) continue;
                lost.Add(page.Position);
            }
        }

        lost.AddRange(positions.Where(position => position >= tail));
        return lost;
    }

    private static async Task ExportAsync(
        UnitSalvage unit, List<LogPosition> lost, FileInfo file, CancellationToken cancellationToken)
    {
        await using var stream = new FileStream(file.FullName, FileMode.CreateNew, FileAccess.Write);
        await using var writer = new StreamWriter(stream);
        foreach (var position in lost)
        {
            var entry = EntryJson.Of(await unit.ReadAsync(position));
            await writer.WriteLineAsync(
                JsonSerializer.Serialize(entry, CliJson.Lines.EntryJson).AsMemory(), cancellationToken);
        }

        await writer.FlushAsync(cancellationToken);
        stream.Flush(flushToDisk: true);
    }

    private static string Ranges(List<LogPosition> positions)
    {
        var text = new StringBuilder();
        var shown = 0;
        for (var i = 0; i < positions.Count; shown++)
        {
            var first = positions[i].Offset;
            while (i + 1 < positions.Count && positions[i + 1].Offset == positions[i].Offset + 1) i++;
            var last = positions[i++].Offset;
            if (shown == ShownRanges) return text.Append(" ...").ToString();
            text.Append(shown == 0 ? ": " : " ").Append(CultureInfo.InvariantCulture, $"{first}");
            if (last > first) text.Append(CultureInfo.InvariantCulture, $"-{last}");
        }

        return text.ToString();
    }
}
