using Microsoft.Extensions.Logging;

namespace Corfu.Agent;

internal static partial class RebuildLog
{
    [LoggerMessage(101, LogLevel.Information, "Unit {Unit} has everything from {From} to {Until}")]
    public static partial void Rebuilt(ILogger logger, string unit, string from, string until);
}
