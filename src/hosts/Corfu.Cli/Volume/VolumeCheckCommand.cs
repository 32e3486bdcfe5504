using System.Text.Json;
using Salus;
using Salus.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu volume check</c>.</summary>
internal static class VolumeCheckCommand
{
    private const int MostNamed = 16;

    private const string Description =
        """
        Read all that a volume, or a snapshot as VOL@NAME, holds, and compare each block with the volume's hash tree. A
        copy that is wrong is passed over and accused, and the next one is read. The volume is mounted for that: it is
        refused while another process serves the volume, a snapshot is not. The stores search for damage by
        themselves: the command also says how many damaged files and records each store has, and how many have come
        whole from other stores. Exit code 0 if every block has a copy that is right, else 1.
        """;

    public static Command Create()
    {
        var connect = SalusConnections.LogOption();
        var (name, json) = (VolumeCommand.NameArgument("The volume, or VOL@NAME."), CommonOptions.JsonOption());
        var command = Commands.New("check", Description, [connect, name, json]);
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var salus = await SalusConnection.OpenAsync(
                Connections.Parse(result.GetRequiredValue(connect)).ToString(), SalusClientOptions.Default with
                {
                    Owner = $"'corfu volume check' on {Environment.MachineName}",
                }, cancellationToken: cancellationToken);
            var volume = result.GetRequiredValue(name);
            var source = await salus.FindVolumeAsync(volume, cancellationToken);
            await using var mounted = await source.MountAsync(cancellationToken);
            CommandDeadline.Connected();
            var verdict = await VolumeCheck.RunAsync(mounted, cancellationToken: cancellationToken);
            var copies = await VolumeReport.CopiesAsync(salus, volume, cancellationToken);
            await WriteAsync(result.InvocationConfiguration.Output, volume, mounted.BlockSize, verdict, copies,
                result.GetValue(json));
            return verdict.Damaged.IsEmpty ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    private static async Task WriteAsync(
        TextWriter output, string volume, int blockSize, VolumeVerdict verdict, ImmutableArray<StoreCopy> copies,
        bool json)
    {
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(new VolumeCheckJson(volume, blockSize, verdict.Blocks,
                verdict.Verified, verdict.Damaged, [.. copies.Select(StoreCopyJson.Of)]),
                SalusCliJson.Indented.VolumeCheckJson));
            return;
        }

        await output.WriteLineAsync($"{ByteText.Of(verdict.Verified * blockSize)} of "
            + $"{ByteText.Of(verdict.Blocks * blockSize)} in use: {verdict.Verified} blocks verified");
        foreach (var block in verdict.Damaged.Take(MostNamed))
            await output.WriteLineAsync($"block {block} has no copy that is right: restore it from a backup");
        if (verdict.Damaged.Length > MostNamed)
            await output.WriteLineAsync($"{verdict.Damaged.Length} such blocks in all; --json names them");
        foreach (var copy in copies)
        {
            if (copy.Note is { } note) await output.WriteLineAsync(note);
        }
    }
}

/// <param name="Verified">Blocks that were read and match the volume's tree. The others are empty, or damaged.</param>
internal sealed record VolumeCheckJson(
    string Volume, int BlockSize, long Blocks, long Verified, IReadOnlyList<long> Damaged,
    IReadOnlyList<StoreCopyJson> Copies);

/// <param name="Damaged">Files that are damaged or missing at the store; null: it does not answer.</param>
/// <param name="Mended">Damaged files that have come from other stores, since its process has started.</param>
internal sealed record StoreCopyJson(string Store, long? Damaged, long? Mended)
{
    public static StoreCopyJson Of(StoreCopy copy) => new(copy.Store.Value.ToString("D"),
        copy.Answers ? copy.Damaged : null, copy.Answers ? copy.Mended : null);
}
