using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>Lines that a front end logs.</summary>
internal sealed class Lines : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<(LogLevel Level, string Text)> _lines = new();

    private readonly SemaphoreSlim _added = new(0);

    public IEnumerable<(LogLevel Level, string Text)> All => _lines;

    /// <summary>Completes when a line has the text. For one caller at a time.</summary>
    public async Task WaitAsync(string text)
    {
        while (!_lines.Any(line => line.Text.Contains(text, StringComparison.Ordinal))) await _added.WaitAsync();
    }

    public ILogger CreateLogger(string categoryName) =>
        categoryName.StartsWith("Corfu.ZooKeeper", StringComparison.Ordinal)
            ? this
            : Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public bool IsEnabled(LogLevel logLevel) => true;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter)
    {
        _lines.Enqueue((logLevel, formatter(state, exception)));
        _added.Release();
    }

    // A front end may log to the end of its process.
    public void Dispose()
    {
    }
}
