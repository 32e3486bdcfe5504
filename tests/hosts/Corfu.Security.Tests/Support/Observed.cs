using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;

namespace Corfu.Security.Tests.Support;

/// <summary>Lines of a log and counts of an instrument, while a test runs.</summary>
internal sealed class Observed : ILogger, IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    private readonly ConcurrentQueue<string> _lines = [];
    private readonly ConcurrentQueue<string> _counted = [];
    private readonly MeterListener _listener = new();

    public Observed(string instrument)
    {
        _listener.InstrumentPublished = (published, listener) =>
        {
            if (published.Name == instrument) listener.EnableMeasurementEvents(published);
        };
        _listener.SetMeasurementEventCallback<long>((_, _, tags, _) =>
            _counted.Enqueue(string.Join(',', tags.ToArray().Select(tag => $"{tag.Key}={tag.Value}"))));
        _listener.Start();
    }

    public IReadOnlyCollection<string> Lines => _lines;

    /// <summary>A line with the words comes; it may come after the peer has heard of the refusal.</summary>
    public Task<string> LineAsync(string words) => FindAsync(_lines, words);

    public Task<string> CountAsync(string words) => FindAsync(_counted, words);

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter) => _lines.Enqueue(formatter(state, exception));

    public void Dispose() => _listener.Dispose();

    private static async Task<string> FindAsync(ConcurrentQueue<string> seen, string words)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            if (seen.FirstOrDefault(one => one.Contains(words, StringComparison.Ordinal)) is { } found) return found;
            Assert.True(TimeProvider.System.GetElapsedTime(began) < Patience,
                $"no '{words}' in\n{string.Join('\n', seen)}");
            await Task.Delay(20);
        }
    }
}
