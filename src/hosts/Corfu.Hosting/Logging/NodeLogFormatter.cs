using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Logging.Console;
using Serilog.Events;
using Serilog.Formatting;
using Serilog.Formatting.Display;

namespace Corfu.Hosting;

/// <summary>Lines of a node's log file. An event is one line, whatever texts it has; an exception follows, indented, so
/// that none of its lines looks like an event.</summary>
internal sealed class NodeLogFormatter : ITextFormatter
{
    // The load tool reads the times (Corfu.Load failover).
    private const string Template =
        "{UtcTimestamp:yyyy-MM-ddTHH:mm:ss.ffffff}Z {Level:w4} {SourceContext}: {Message:lj}";

    private readonly MessageTemplateTextFormatter _line = new(Template, CultureInfo.InvariantCulture);

    public void Format(LogEvent logEvent, TextWriter output)
    {
        using var line = new StringWriter(CultureInfo.InvariantCulture);
        _line.Format(logEvent, line);
        output.WriteLine(Printable.Of(line.ToString()));
        if (logEvent.Exception is not { } exception) return;
        foreach (var part in exception.ToString().Split('\n'))
            output.WriteLine("  " + Printable.Of(part.TrimEnd('\r')));
    }
}

/// <summary>A node's log on its console: as the framework's, one line per event.</summary>
internal sealed class NodeConsoleFormatter() : ConsoleFormatter(FormatterName)
{
    public const string FormatterName = "corfu";

    public override void Write<TState>(
        in LogEntry<TState> logEntry, IExternalScopeProvider? scopeProvider, TextWriter textWriter)
    {
        var message = logEntry.Formatter(logEntry.State, logEntry.Exception);
        var exception = logEntry.Exception is { } e ? $" {e}" : "";
        textWriter.WriteLine(Printable.Of(
            $"{NameOf(logEntry.LogLevel)}: {logEntry.Category}[{logEntry.EventId.Id}] {message}{exception}"));
    }

    private static string NameOf(LogLevel level) => level switch
    {
        LogLevel.Trace => "trce",
        LogLevel.Debug => "dbug",
        LogLevel.Information => "info",
        LogLevel.Warning => "warn",
        LogLevel.Error => "fail",
        _ => "crit",
    };
}
