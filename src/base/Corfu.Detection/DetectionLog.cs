namespace Corfu.Detection;

internal static partial class DetectionLog
{
    [LoggerMessage(11, LogLevel.Warning, "{Node} is {Health}: {Why}")]
    public static partial void Verdict(ILogger logger, string node, string health, string why);

    [LoggerMessage(12, LogLevel.Information, "{Node} is alive again, was {Health}")]
    public static partial void Recovered(ILogger logger, string node, string health);

    [LoggerMessage(19, LogLevel.Error, "A step of the agent failed; the next one goes on")]
    public static partial void StepFailed(ILogger logger, Exception error);

    [LoggerMessage(24, LogLevel.Error, "A background task of the agent failed")]
    public static partial void TaskFailed(ILogger logger, Exception error);
}
