using System.Globalization;
using System.Text.Json;

namespace Corfu.Cli;

/// <summary><c>corfu history</c>.</summary>
internal static class HistoryCommand
{
    public static Command Create()
    {
        var connect = LogCommand.ConnectOption();
        var json = ClusterCommand.JsonOption();
        var count = LogCommand.NumberOption("--count", "Epochs at most.", 50);
        var command = new Command("history",
            "Show the cluster's epochs, newest first: when each was proposed, by whom and why. The time is its "
            + "proposer's clock.") { connect, count, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var session = await AdminSession.OpenAsync(result.GetRequiredValue(connect), cancellationToken);
            var history = await session.Cluster.ReadHistoryAsync(result.GetValue(count), cancellationToken);
            var output = result.InvocationConfiguration.Output;
            if (result.GetValue(json))
            {
                foreach (var epoch in history)
                    await output.WriteLineAsync(JsonSerializer.Serialize(EpochJson.Of(epoch), CliJson.Lines.EpochJson));
                return ExitCode.Ok;
            }

            string[] header = ["EPOCH", "PROPOSED", "START", "SEGMENTS", "UNITS", "SEQUENCER", "WHY"];
            await TextTable.WriteAsync(output, header, history.Select(epoch => new[]
            {
                epoch.Epoch.Value.ToString(CultureInfo.InvariantCulture),
                epoch.ProposedAt?.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss.fff", CultureInfo.InvariantCulture) ?? "-",
                epoch.Start.Offset.ToString(CultureInfo.InvariantCulture),
                epoch.Segments.Length.ToString(CultureInfo.InvariantCulture),
                epoch.Units.Length.ToString(CultureInfo.InvariantCulture),
                epoch.Sequencer.Endpoint.ToString(),
                epoch.Reason,
            }));
            return ExitCode.Ok;
        });
        return command;
    }
}
