using System.CommandLine;
using Corfu.Protocol;

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
        var connect = LogCommand.ConnectOption();
        var position = LogCommand.PositionArgument("The position to release.");
        position.Arity = ArgumentArity.ZeroOrOne;
        var below = LogCommand.PositionOption("--below",
            "Release everything below this position, which is at most the tail.");
        var command = new Command("trim", Description) { connect, position, below };
        command.SetAction(async (result, cancellationToken) =>
        {
            var single = result.GetResult(position) is { Tokens.Count: > 0 };
            var prefix = result.GetValue(below);
            if (single == prefix.HasValue) throw new UsageException("Give either a position or --below P.");
            await using var client = await Connections.ConnectAsync(result.GetRequiredValue(connect),
                cancellationToken);
            if (prefix is { } end) await client.TrimPrefixAsync(end, cancellationToken);
            else await client.TrimAsync(result.GetValue(position), cancellationToken);
            return ExitCode.Ok;
        });
        return command;
    }
}
