using System.Globalization;
using System.Text.Json;

namespace Corfu.Cli;

/// <summary><c>corfu history</c>.</summary>
internal static class HistoryCommand
{
    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        var json = CommonOptions.JsonOption();
        var count = CommonOptions.NumberOption("--count", "Epochs at most.", 50);
        var audit = new Option<DirectoryInfo>("--audit")
        {
            Description = "The folder of a node, or of a cluster of 'corfu cluster up': its audit names the "
                + "certificate of each proposer.",
            HelpName = "DIR",
        };
        var command = new Command("history",
            "Show the cluster's epochs, newest first: when each was proposed, by whom and why. Time and reason are the "
            + "proposer's word; BY is the certificate that an acceptor saw, where the audit has it.")
        {
            connect, count, audit, json,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var session = await AdminSession.OpenAsync(result.GetRequiredValue(connect), cancellationToken);
            var history = await session.Cluster.ReadHistoryAsync(result.GetValue(count), cancellationToken);
            var proposers = ProposersIn(result.GetValue(audit)?.FullName);
            var output = result.InvocationConfiguration.Output;
            if (result.GetValue(json))
            {
                foreach (var epoch in history)
                    await output.WriteLineAsync(JsonSerializer.Serialize(
                        EpochJson.Of(epoch, proposers.GetValueOrDefault(epoch.Epoch.Value)), CliJson.Lines.EpochJson));
                return ExitCode.Ok;
            }

            string[] header = ["EPOCH", "PROPOSED", "START", "SEGMENTS", "UNITS", "SEQUENCER", "BY", "WHY"];
            await TextTable.WriteAsync(output, header, history.Select(epoch => new[]
            {
                epoch.Epoch.Value.ToString(CultureInfo.InvariantCulture),
                epoch.ProposedAt?.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss.fff", CultureInfo.InvariantCulture) ?? "-",
                epoch.Start.Offset.ToString(CultureInfo.InvariantCulture),
                epoch.Segments.Length.ToString(CultureInfo.InvariantCulture),
                epoch.Units.Length.ToString(CultureInfo.InvariantCulture),
                epoch.Sequencer.Endpoint.ToString(),
                proposers.GetValueOrDefault(epoch.Epoch.Value) ?? "-",
                epoch.Reason,
            }));
            return ExitCode.Ok;
        });
        return command;
    }

    // Any acceptor's node may have seen the proposal.
    private static Dictionary<long, string> ProposersIn(string? folder)
    {
        Dictionary<long, string> proposers = [];
        if (folder is null) return proposers;
        foreach (var entry in NodeFolder.PathsIn(folder).SelectMany(path => AuditFiles.In(path))
            .SelectMany(AuditFiles.Read))
        {
            if (entry is { Event: "Adopted", Who: { } who }) proposers[entry.Epoch] = who.ToString();
        }

        return proposers;
    }
}
