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
        LogSalvageCommand.Create(),
    };
}
