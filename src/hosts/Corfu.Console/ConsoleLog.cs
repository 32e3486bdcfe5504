namespace Corfu.WebConsole;

internal static partial class ConsoleLog
{
    [LoggerMessage(1, LogLevel.Error, "A round of the console failed; the next one follows.")]
    public static partial void RoundFailed(ILogger logger, Exception error);
}
