using Microsoft.Extensions.Logging;

namespace Corfu.Agent;

internal static partial class AgentLog
{
    [LoggerMessage(11, LogLevel.Warning, "{Node} is {Health}: {Why}")]
    public static partial void Verdict(ILogger logger, string node, string health, string why);

    [LoggerMessage(12, LogLevel.Information, "{Node} is alive again after {Health}")]
    public static partial void Recovered(ILogger logger, string node, string health);

    [LoggerMessage(13, LogLevel.Warning, "Reconfiguring: {Change}")]
    public static partial void Acting(ILogger logger, string change);

    [LoggerMessage(14, LogLevel.Information, "Not reconfigured: the other agents do not agree ({Change})")]
    public static partial void Doubted(ILogger logger, string change);

    [LoggerMessage(15, LogLevel.Warning, "The reconfiguration failed and will be tried again: {Why}")]
    public static partial void ActionFailed(ILogger logger, string why);

    [LoggerMessage(16, LogLevel.Information, "Projection {Projection} ({Reason})")]
    public static partial void Learnt(ILogger logger, string projection, string reason);

    [LoggerMessage(17, LogLevel.Warning, "Nothing is done: {Note}")]
    public static partial void Held(ILogger logger, string note);

    [LoggerMessage(18, LogLevel.Information, "Automatic reconfiguration is {State}")]
    public static partial void Automation(ILogger logger, string state);

    [LoggerMessage(19, LogLevel.Error, "The agent's loop met an unforeseen failure and goes on")]
    public static partial void LoopFailed(ILogger logger, Exception error);

    [LoggerMessage(20, LogLevel.Information, "Rebuilding what is joining in {Projection}")]
    public static partial void Rebuilding(ILogger logger, string projection);

    [LoggerMessage(21, LogLevel.Information, "Nothing is joining any more: {Entries} entries, {Bytes} bytes copied in {Seconds} s")]
    public static partial void RebuildDone(ILogger logger, long entries, long bytes, double seconds);

    [LoggerMessage(22, LogLevel.Error, "Work in the background failed and will be tried again: {Why}")]
    public static partial void ChoreFailed(ILogger logger, string why);

    [LoggerMessage(23, LogLevel.Information, "{Count} segments: the smallest are migrated, from {Projection}")]
    public static partial void Migrating(ILogger logger, int count, string projection);
}
