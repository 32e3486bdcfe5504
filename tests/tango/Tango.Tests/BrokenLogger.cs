using Microsoft.Extensions.Logging;

namespace Tango.Tests;

/// <summary>A program's logger that fails at critical events.</summary>
internal sealed class BrokenLogger : ILogger
{
    /// <summary>Events at which it has failed.</summary>
    public int Failures { get; private set; }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter)
    {
        if (logLevel != LogLevel.Critical) return;
        Failures++;
        throw new InvalidOperationException("The logger is broken");
    }
}
