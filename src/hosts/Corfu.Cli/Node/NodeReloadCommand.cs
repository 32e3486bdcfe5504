namespace Corfu.Cli;

/// <summary><c>corfu node reload</c>.</summary>
internal static class NodeReloadCommand
{
    private const string Description =
        """
        A node that runs on this machine takes its node.json anew, as at SIGHUP: peers, levels of the log, limits of the
        listener, certificates. Prints the changes, and what needs a restart. A file that is not valid changes nothing.
        """;

    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption("The node's folder.");
        var command = new Command("reload", Description) { directory };
        command.SetAction(async (result, cancellationToken) =>
        {
            var outcome = await NodeReload.RunAsync(
                result.GetRequiredValue(directory).FullName, TimeProvider.System, cancellationToken);
            var output = result.InvocationConfiguration.Output;
            if (outcome.Fault is { } fault)
            {
                await result.InvocationConfiguration.Error.WriteLineAsync($"Nothing has changed: {fault}");
                return ExitCode.Failed;
            }

            foreach (var change in outcome.Changes) await output.WriteLineAsync($"changed: {change}");
            foreach (var member in outcome.NeedRestart) await output.WriteLineAsync($"needs a restart: {member}");
            if (outcome.Changes.IsEmpty && outcome.NeedRestart.IsEmpty)
                await output.WriteLineAsync("nothing to change");
            return ExitCode.Ok;
        });
        return command;
    }
}
