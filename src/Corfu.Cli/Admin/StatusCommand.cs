using System.CommandLine;
using System.Text.Json;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Cli;

/// <summary><c>corfu status</c>.</summary>
internal static class StatusCommand
{
    private const string Description =
        """
        Show a running cluster: epoch and why it was made, chains, tail, rates, long work with the time that is left, and how each node is and
        why. The exit code is 0 only if the log's tail can be had. With --watch again every second, until Ctrl-C.
        """;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    public static Command Create()
    {
        var connect = LogCommand.ConnectOption();
        var json = ClusterCommand.JsonOption();
        var watch = new Option<bool>("--watch", "-w") { Description = "Again and again." };
        var command = new Command("status", Description) { connect, watch, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var output = result.InvocationConfiguration.Output;
            await using var session = await AdminSession.OpenAsync(result.GetRequiredValue(connect), cancellationToken);
            StatusJson? before = null;
            var at = 0L;
            while (true)
            {
                var now = TimeProvider.System.GetTimestamp();
                var status = await TakeAsync(session, before, before is null ? null : TimeProvider.System.GetElapsedTime(at, now), cancellationToken);
                if (result.GetValue(json)) await output.WriteLineAsync(JsonSerializer.Serialize(status, CliJson.Lines.StatusJson));
                else await StatusReport.WriteAsync(output, status);
                if (!result.GetValue(watch)) return status.Tail is null ? ExitCode.Failed : ExitCode.Ok;
                (before, at) = (status, now);
                await Task.Delay(Interval, cancellationToken);
            }
        });
        return command;
    }

    private static async Task<StatusJson> TakeAsync(AdminSession session, StatusJson? before, TimeSpan? elapsed, CancellationToken cancellationToken)
    {
        var projection = await session.Client.RefreshAsync(cancellationToken);
        long? tail = null;
        var mark = projection.TrimMark;
        using (var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken))
        {
            patience.CancelAfter(TimeSpan.FromSeconds(3));
            try
            {
                tail = (await session.Client.CheckAsync([], ReadConsistency.Session, patience.Token)).Tail.Offset;
                mark = await session.Client.ReadTrimMarkAsync(patience.Token);
            }
            catch (Exception e) when (e is CorfuException || (e is OperationCanceledException && !cancellationToken.IsCancellationRequested))
            {
                // The tail is shown as unknown, the mark as the projection has it.
            }
        }

        var agents = await session.AgentsAsync(cancellationToken);
        var newest = agents.OrderByDescending(agent => agent.Info.Epoch).Select(agent => agent.Info).FirstOrDefault();
        return new StatusJson(
            ProjectionJson.Of(projection),
            projection.Segments.Length,
            mark.Offset,
            tail,
            elapsed is { } time && tail is { } t && before?.Tail is { } b ? (t - b) / time.TotalSeconds : null,
            newest?.Automation.IsOn,
            [.. agents.Select(agent => agent.Info.Note).Where(note => note.Length > 0).Distinct()],
            [.. agents.SelectMany(agent => agent.Info.Work).Select(WorkJson.Of)],
            [.. (newest?.Nodes ?? []).OrderBy(node => node.Address.Endpoint).ThenBy(node => node.Role).Select(HealthJson.Of)]);
    }
}
