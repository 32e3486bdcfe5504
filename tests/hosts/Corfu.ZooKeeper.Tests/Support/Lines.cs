using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>Lines that a front end logs.</summary>
internal sealed class Lines : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<(LogLevel Level, string Text)> _lines = new();

    public IEnumerable<(LogLevel Level, string Text)> All => _lines;

    public ILogger CreateLogger(string categoryName) =>
        categoryName.StartsWith("Corfu.ZooKeeper", StringComparison.Ordinal)
            ? this
            : Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public bool IsEnabled(LogLevel logLevel) => true;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter) => _lines.Enqueue((logLevel, formatter(state, exception)));

    public void Dispose()
    {
    }
}
