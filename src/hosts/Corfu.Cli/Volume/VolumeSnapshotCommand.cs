using Salus;
using System.Text.Json;
using Salus.Coordination;
using Salus.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu volume snapshot</c>.</summary>
internal static class VolumeSnapshotCommand
{
    private const string Description =
        """
        Take a snapshot of a volume: what is committed at one place in the order of its writes. The process that has the
        volume mounted takes it, and else this command. 'corfu volume serve VOL@NAME' serves it read-only. With --delete
        the snapshot is deleted; without a name the snapshots are listed.
        """;

    public static Command Create()
    {
        var volume = VolumeCommand.NameArgument();
        var name = new Argument<string?>("name")
        { Description = "The snapshot's name.", Arity = ArgumentArity.ZeroOrOne };
        var delete = new Option<bool>("--delete") { Description = "Delete the snapshot, for good." };
        var json = CommonOptions.JsonOption();
        var connect = SalusConnections.LogOption();
        var command = Commands.New("snapshot", Description, [connect, volume, name, delete, json]);
        command.SetAction(async (result, cancellationToken) =>
        {
            if (result.GetValue(delete) && result.GetValue(name) is null)
                throw new UsageException("--delete needs the snapshot's name.");
            await using var salus = await SalusConnection.OpenAsync(
                Connections.Parse(result.GetRequiredValue(connect)).ToString(), cancellationToken: cancellationToken);
            var of = result.GetRequiredValue(volume);
            if (result.GetValue(name) is not { } snapshot)
                return await ListAsync(result, salus.Log.Admin, of, result.GetValue(json), cancellationToken);
            if (result.GetValue(delete)) await salus.Log.Admin.DeleteSnapshotAsync(of, snapshot, cancellationToken);
            else await salus.SnapshotAsync(of, snapshot, cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(result.GetValue(delete) ? "deleted" : "taken");
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task<int> ListAsync(
        ParseResult result, SalusAdmin admin, string volume, bool json, CancellationToken cancellationToken)
    {
        var output = result.InvocationConfiguration.Output;
        SnapshotJson[] found = [.. (await admin.SnapshotsAsync(volume, cancellationToken)).Select(SnapshotJson.Of)];
        if (json)
            await output.WriteLineAsync(JsonSerializer.Serialize(found, SalusCliJson.Indented.SnapshotJsonArray));
        else await TextTable.WriteAsync(output, ["SNAPSHOT", "BATCH", "STATE"],
            found.Select(own => new[] { own.Name, $"{own.Batch}", own.State }));
        return ExitCode.Ok;
    }
}
