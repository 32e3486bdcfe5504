namespace Corfu.Cli;

/// <summary><c>corfu cluster status</c>.</summary>
internal static class ClusterStatusCommand
{
    private const string Description =
        """
        Show the cluster's processes and what each role says about itself. The last line is the verdict, as 'corfu
        status' prints it. Exit code 0 if appends succeed, else 1.
        """;

    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption();
        var json = CommonOptions.JsonOption();
        var command = new Command("status", Description) { directory, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = ClusterFolder.Open(result.GetRequiredValue(directory).FullName);
            var state = await ClusterProbe.StateAsync(folder, cancellationToken);
            await ClusterReport.WriteAsync(result.InvocationConfiguration.Output, state, result.GetValue(json));
            return state.Verdict.AppendsSucceed ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }
}
