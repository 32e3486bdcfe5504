using Salus;

namespace Corfu.Cli;

/// <summary><c>corfu volume list</c>.</summary>
internal static class VolumeListCommand
{
    public static Command Create()
    {
        var json = CommonOptions.JsonOption();
        return SalusConnections.WithLog("list", "List the volumes with their states.", [json],
            async (salus, result, cancellationToken) =>
            {
                await VolumeReport.WriteListAsync(result.InvocationConfiguration.Output, salus,
                    await salus.Admin.ListAsync(cancellationToken), result.GetValue(json));
                return ExitCode.Ok;
            });
    }
}

/// <summary><c>corfu volume status</c>.</summary>
internal static class VolumeStatusCommand
{
    private const string Description =
        """
        Show one volume with its regions, snapshots and losses. Exit code 0 if requests to it are served, else 1: the
        lines below the table say what it waits for.
        """;

    public static Command Create()
    {
        var (name, json) = (VolumeCommand.NameArgument(), CommonOptions.JsonOption());
        var connect = SalusConnections.LogOption();
        var command = Commands.New("status", Description, [connect, name, json]);
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var salus = await SalusConnection.OpenAsync(
                Connections.Parse(result.GetRequiredValue(connect)).ToString(), cancellationToken: cancellationToken);
            var volume = await salus.Log.Admin.StatusAsync(result.GetRequiredValue(name), cancellationToken);
            var copies = await salus.CopiesAsync(volume.Entry.Id, cancellationToken);
            volume = volume with
            {
                Notes = [.. volume.Notes, .. copies.Select(static copy => copy.Note).OfType<string>()],
            };
            await VolumeReport.WriteAsync(
                result.InvocationConfiguration.Output, salus.Log, volume, result.GetValue(json));
            return VolumeReport.IsWell(volume) ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }
}
