namespace Corfu.Cli;

/// <summary><c>corfu cluster down</c>.</summary>
internal static class ClusterDownCommand
{
    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption();
        var command = new Command("down",
            "Stop the cluster's processes. Its data stays; 'cluster up' continues from there.") { directory };
        command.SetAction(async (result, cancellationToken) =>
        {
            var cluster = new ProcessCluster(NodeCommandLine.Self(NodeCommand.Name, NodeCommand.ConfigOption));
            var stopped = await cluster.DownAsync(result.GetRequiredValue(directory).FullName, cancellationToken);
            var output = result.InvocationConfiguration.Output;
            foreach (var node in stopped) await output.WriteLineAsync($"stopped {node}");
            if (stopped.IsEmpty) await output.WriteLineAsync("nothing was running");
            return ExitCode.Ok;
        });
        return command;
    }
}
