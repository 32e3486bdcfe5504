namespace Corfu.Cli;

/// <summary><c>corfu log fill</c>.</summary>
internal static class LogFillCommand
{
    private const string Description =
        """
        Close a hole: complete what its chain's head holds, or fill the position with junk, without waiting for its
        writer. A position that was never granted is refused. Prints what the position holds afterwards.
        """;

    public static Command Create()
    {
        var position = CommonOptions.PositionArgument("The hole.");
        return Commands.WithClient("fill", Description, [position], async (client, result, cancellationToken) =>
        {
            var page = await client.FillAsync(result.GetValue(position), cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"{page.Position}: {page.State.ToString().ToLowerInvariant()}");
            return page.State is PageState.Data or PageState.Junk or PageState.Trimmed ? ExitCode.Ok : ExitCode.Failed;
        });
    }
}
