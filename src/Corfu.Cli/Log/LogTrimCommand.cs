namespace Corfu.Cli;

/// <summary><c>corfu log trim</c>.</summary>
internal static class LogTrimCommand
{
    private const string Description =
        """
        Release one position, or with --below everything before one. What is trimmed cannot be read again. Its stream
        headers survive a trim of single positions, so that streams can still be walked.
        """;

    public static Command Create()
    {
        var position = LogCommand.PositionArgument("The position to release.");
        position.Arity = ArgumentArity.ZeroOrOne;
        var below = LogCommand.PositionOption("--below",
            "Release everything below this position, which is at most the tail.");
        var command = LogCommand.WithClient("trim", Description, [position, below],
            async (client, result, cancellationToken) =>
            {
                if (result.GetValue(below) is { } end) await client.TrimPrefixAsync(end, cancellationToken);
                else await client.TrimAsync(result.GetValue(position), cancellationToken);
                return ExitCode.Ok;
            });
        command.Validators.Add(result =>
        {
            if (result.GetResult(position) is { Tokens.Count: > 0 } == (result.GetResult(below) is not null))
                result.AddError("Give either a position or --below P.");
        });
        return command;
    }
}
