using Microsoft.Extensions.Logging;

namespace Corfu.Agent;

internal static partial class AgentLog
{
    [LoggerMessage(1, LogLevel.Information, "Unit {Unit} has everything from {From} to {Until}")]
    public static partial void Rebuilt(ILogger logger, string unit, string from, string until);
}
