using Microsoft.Extensions.Logging;

namespace Tango.Tests;

/// <summary>Keeps what a runtime logs from warnings on.</summary>
internal sealed class LogLines : ILogger
{
    public List<string> Written { get; } = [];

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter)
    {
        if (logLevel >= LogLevel.Warning) Written.Add(formatter(state, exception));
    }
}
