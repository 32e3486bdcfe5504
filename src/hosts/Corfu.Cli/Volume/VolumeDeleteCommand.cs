namespace Corfu.Cli;

/// <summary><c>corfu volume delete</c>.</summary>
internal static class VolumeDeleteCommand
{
    private const string Description =
        """
        Delete a volume with its snapshots, for good. It is refused while a process serves the volume to clients. Waits
        until the stores have freed what they held of it, and its name is free; what is interrupted goes on by itself.
        """;

    public static Command Create()
    {
        var name = VolumeCommand.NameArgument();
        return SalusConnections.WithLog("delete", Description, [name], async (salus, result, cancellationToken) =>
        {
            var volume = result.GetRequiredValue(name);
            var entry = await salus.Admin.DeleteAsync(volume, cancellationToken);
            await salus.Admin.WaitUntilGoneAsync(volume, entry.Id, cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync("deleted");
            return ExitCode.Ok;
        });
    }
}
