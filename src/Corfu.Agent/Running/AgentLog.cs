using Microsoft.Extensions.Logging;

namespace Corfu.Agent;

internal static partial class AgentLog
{
    [LoggerMessage(1, LogLevel.Warning, "{Node} is {Health}: {Why}")]
    public static partial void Verdict(ILogger logger, string node, string health, string why);

    [LoggerMessage(2, LogLevel.Information, "{Node} is alive again after {Health}")]
    public static partial void Recovered(ILogger logger, string node, string health);

    [LoggerMessage(3, LogLevel.Warning, "Reconfiguring: {Change}")]
    public static partial void Acting(ILogger logger, string change);

    [LoggerMessage(4, LogLevel.Information, "Not reconfigured: the other agents do not agree ({Change})")]
    public static partial void Doubted(ILogger logger, string change);

    [LoggerMessage(5, LogLevel.Warning, "The reconfiguration failed and will be tried again: {Why}")]
    public static partial void ActionFailed(ILogger logger, string why);

    [LoggerMessage(6, LogLevel.Information, "Projection {Projection} ({Reason})")]
    public static partial void Learnt(ILogger logger, string projection, string reason);

    [LoggerMessage(7, LogLevel.Warning, "Nothing is done: {Note}")]
    public static partial void Held(ILogger logger, string note);

    [LoggerMessage(8, LogLevel.Information, "Automatic reconfiguration is {State}")]
    public static partial void Automation(ILogger logger, string state);

    [LoggerMessage(9, LogLevel.Error, "The agent's loop met an unforeseen failure and goes on")]
    public static partial void LoopFailed(ILogger logger, Exception error);
}
