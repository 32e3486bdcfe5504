using Microsoft.Extensions.Logging;

namespace Corfu.Transport.Tests;

/// <summary>Keeps the lines of a log.</summary>
internal sealed class Lines : ILogger
{
    private readonly List<string> _written = [];

    public string[] Written
    {
        get
        {
            lock (_written) return [.. _written];
        }
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter)
    {
        lock (_written) _written.Add(formatter(state, exception));
    }
}
