using System.CommandLine;
using Corfu.Protocol;

namespace Corfu.Cli;

/// <summary><c>corfu log</c>: the log itself, entry by entry.</summary>
internal static class LogCommand
{
    public static Command Create() => new("log", "Append to, read and administer the log of a running cluster.")
    {
        LogAppendCommand.Create(),
        LogReadCommand.Create(),
        LogTailCommand.Create(),
        LogDumpCommand.Create(),
        LogFillCommand.Create(),
        LogTrimCommand.Create(),
    };

    public static Option<string> ConnectOption() => new("--connect", "-c")
    {
        Description = "The cluster's connection string, as 'cluster up' prints it.",
        HelpName = "corfu://HOST:PORT,...",
        Required = true,
    };

    public static Argument<LogPosition> PositionArgument(string description) => new("position")
    {
        Description = description,
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (LogPosition.TryParse(text, out var position)) return position;
            result.AddError($"'{text}' is no position: a number, or epoch and number as in e5:1042.");
            return default;
        },
    };

    public static Option<LogPosition?> PositionOption(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "P",
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (LogPosition.TryParse(text, out var position)) return position;
            result.AddError($"'{text}' is no position: a number, or epoch and number as in e5:1042.");
            return null;
        },
    };

    public static Option<ulong[]> StreamsOption(string description) => new("--stream", "-s")
    {
        Description = description,
        HelpName = "ID",
        DefaultValueFactory = _ => [],
    };
}
