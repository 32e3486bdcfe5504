namespace Corfu.Agent;

/// <summary>Monotonic time since the agent's construction.</summary>
internal sealed class AgentClock(TimeProvider time)
{
    private readonly long _started = time.GetTimestamp();

    public TimeSpan Now => time.GetElapsedTime(_started);
}

internal static class BackgroundTask
{
    /// <summary>Null: no answer within the limit.</summary>
    public static async Task<TResponse?> TryCallAsync<TResponse>(this ITransport transport, NodeAddress node,
        Request<TResponse> request, TimeSpan limit, TimeProvider time, CancellationToken stopped = default)
        where TResponse : Response
    {
        using var timeout = new CancellationTokenSource(limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, stopped);
        try
        {
            return await transport.CallAsync(node, request, either.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }

    /// <summary>Logs the failure of a task that no caller awaits.</summary>
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

/// <summary>A logger that never throws, so that a full disk or a disposed provider stops no work.</summary>
internal sealed class SafeLogger(ILogger inner) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

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
            // The line is lost.
        }
    }
}
