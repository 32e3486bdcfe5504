using Microsoft.Extensions.Logging;

namespace Corfu.Agent;

/// <summary>Monotonic time since the agent's construction.</summary>
internal sealed class AgentClock(TimeProvider time)
{
    private readonly long _started = time.GetTimestamp();

    public TimeSpan Now => time.GetElapsedTime(_started);
}

/// <summary>Background tasks report their failure instead of losing it.</summary>
internal static class BackgroundTask
{
    public static async Task ReportAsync(this Task task, ILogger logger)
    {
        try
        {
            await task;
        }
        catch (OperationCanceledException)
        {
            // The agent stops.
        }
        catch (Exception e)
        {
            AgentLog.TaskFailed(logger, e);
        }
    }
}

/// <summary>A logger that never throws: what is logged is worth less than what is done.</summary>
internal sealed class SafeLogger(ILogger inner) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel)
    {
        try
        {
            return inner.IsEnabled(logLevel);
        }
        catch (Exception)
        {
            return false;
        }
    }

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter)
    {
        try
        {
            inner.Log(logLevel, eventId, state, exception, formatter);
        }
        catch (Exception)
        {
            // A full disk, a provider that is disposed: the line is lost.
        }
    }
}
