using System.Globalization;
using Microsoft.Extensions.Logging;

namespace Corfu.Hosting;

/// <summary>One line per event into a file, which is turned over once at <see cref="MaxBytes"/>: two files are the most there are.</summary>
public sealed class FileLoggerProvider : ILoggerProvider
{
    public const long MaxBytes = 16 << 20;

    private readonly Lock _gate = new();
    private readonly string _path;
    private readonly TimeProvider _time;
    private StreamWriter _writer;
    private long _written;

    public FileLoggerProvider(string path, TimeProvider time)
    {
        _path = path;
        _time = time;
        _writer = Open(out _written);
    }

    public ILogger CreateLogger(string categoryName) => new FileLogger(this, categoryName);

    public void Dispose()
    {
        lock (_gate) _writer.Dispose();
    }

    private StreamWriter Open(out long length)
    {
        var stream = new FileStream(_path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite | FileShare.Delete);
        length = stream.Length;
        return new StreamWriter(stream) { AutoFlush = true };
    }

    private void Write(string line)
    {
        lock (_gate)
        {
            if (_written > MaxBytes)
            {
                _writer.Dispose();
                File.Move(_path, _path + ".1", overwrite: true);
                _writer = Open(out _written);
            }

            _writer.WriteLine(line);
            _written += line.Length + 1;
        }
    }

    private sealed class FileLogger(FileLoggerProvider owner, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            var time = owner._time.GetUtcNow().ToString("yyyy-MM-dd'T'HH:mm:ss.ffffff'Z'", CultureInfo.InvariantCulture);
            var text = $"{time} {Short(logLevel)} {category}: {formatter(state, exception)}";
            owner.Write(exception is null ? text : text + Environment.NewLine + exception);
        }

        private static string Short(LogLevel level) => level switch
        {
            LogLevel.Trace => "trce",
            LogLevel.Debug => "dbug",
            LogLevel.Information => "info",
            LogLevel.Warning => "warn",
            LogLevel.Error => "fail",
            _ => "crit",
        };
    }
}
