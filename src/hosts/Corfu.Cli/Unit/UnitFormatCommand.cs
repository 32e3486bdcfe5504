namespace Corfu.Cli;

/// <summary><c>corfu unit format</c>.</summary>
internal static class UnitFormatCommand
{
    private const string Description =
        """
        Give the unit of a stopped node a new, empty folder and a new identity, when its data is lost or damaged. The
        old folder is renamed and kept. When the node runs again its unit is a spare, and what the old one held is
        copied from the other replicas. If no other replica has it, the cluster refuses to go on without the old unit:
        'corfu reconfigure replace-destroyed' says what then.
        """;

    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption("The node's folder, such as CLUSTER/unit-1.");
        var command = new Command("format", Description) { directory };
        command.SetAction(async (result, _) =>
        {
            var outcome = UnitFormat.Run(result.GetRequiredValue(directory).FullName);
            var output = result.InvocationConfiguration.Output;
            await output.WriteLineAsync($"formatted {outcome.Folder}: unit {outcome.New} in place of {outcome.Old}");
            if (outcome.Kept is { } kept) await output.WriteLineAsync($"the old data is in {kept}");
            return ExitCode.Ok;
        });
        return command;
    }
}
