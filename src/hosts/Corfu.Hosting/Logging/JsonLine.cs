using System.Buffers;
using System.Diagnostics;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Logging.Console;
using Serilog.Events;
using Serilog.Formatting;

namespace Corfu.Hosting;

/// <summary>An event as one JSON object on one line: whatever its texts hold, escapes keep it there.</summary>
internal static class JsonLine
{
    // Texts of people stay readable; everything that a terminal or a page could take for more is escaped.
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.Create(System.Text.Unicode.UnicodeRanges.BasicLatin,
            System.Text.Unicode.UnicodeRanges.Latin1Supplement),
    };

    public static string Of(LogEventLine line)
    {
        var buffer = new ArrayBufferWriter<byte>(512);
        using (var json = new Utf8JsonWriter(buffer, Options))
        {
            json.WriteStartObject();
            json.WriteString("time", line.Time.UtcDateTime.ToString("yyyy-MM-ddTHH:mm:ss.ffffff'Z'",
                System.Globalization.CultureInfo.InvariantCulture));
            json.WriteString("level", line.Level);
            json.WriteString("category", line.Category);
            json.WriteNumber("event", line.EventId);
            if (line.EventName is { Length: > 0 } name) json.WriteString("name", name);
            json.WriteString("message", line.Message);
            if (line.Trace is { } trace) json.WriteString("trace", trace);
            if (line.Span is { } span) json.WriteString("span", span);
            json.WriteStartObject("fields");
            foreach (var (key, value) in line.Fields) Write(json, key, value);
            json.WriteEndObject();
            if (line.Exception is { } exception) json.WriteString("exception", exception.ToString());
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    private static void Write(Utf8JsonWriter json, string key, object? value)
    {
        switch (value)
        {
            case null:
                json.WriteNull(key);
                break;
            case bool flag:
                json.WriteBoolean(key, flag);
                break;
            case int or long or short or byte or uint or ushort or sbyte:
                json.WriteNumber(key, Convert.ToInt64(value, System.Globalization.CultureInfo.InvariantCulture));
                break;
            case double number when double.IsFinite(number):
                json.WriteNumber(key, number);
                break;
            default:
                json.WriteString(key, value.ToString());
                break;
        }
    }
}

internal readonly record struct LogEventLine(
    DateTimeOffset Time, string Level, string Category, int EventId, string? EventName, string Message)
{
    public IEnumerable<KeyValuePair<string, object?>> Fields { get; init; } = [];

    public string? Trace { get; init; }

    public string? Span { get; init; }

    public Exception? Exception { get; init; }
}

/// <summary>Lines of a node's log file in the format <c>json</c>.</summary>
internal sealed class NodeLogJson : ITextFormatter
{
    public void Format(LogEvent logEvent, TextWriter output)
    {
        var (id, name) = EventOf(logEvent);
        output.WriteLine(JsonLine.Of(new LogEventLine(
            logEvent.Timestamp, NameOf(logEvent.Level), TextOf(logEvent, "SourceContext"), id, name,
            logEvent.RenderMessage(System.Globalization.CultureInfo.InvariantCulture))
        {
            Trace = logEvent.TraceId?.ToHexString(),
            Span = logEvent.SpanId?.ToHexString(),
            Exception = logEvent.Exception,
            Fields = logEvent.Properties.Where(own => own.Key is not ("SourceContext" or "EventId"))
                .Select(own => KeyValuePair.Create(own.Key, ValueOf(own.Value))),
        }));
    }

    // As Serilog.Extensions.Logging hands them over: a structure of Id and Name.
    private static (int Id, string? Name) EventOf(LogEvent logEvent)
    {
        if (logEvent.Properties.GetValueOrDefault("EventId") is not StructureValue parts) return (0, null);
        var id = parts.Properties.FirstOrDefault(part => part.Name == "Id")?.Value as ScalarValue;
        var name = parts.Properties.FirstOrDefault(part => part.Name == "Name")?.Value as ScalarValue;
        return (id?.Value as int? ?? 0, name?.Value as string);
    }

    private static string TextOf(LogEvent logEvent, string property) =>
        (logEvent.Properties.GetValueOrDefault(property) as ScalarValue)?.Value as string ?? "";

    private static object? ValueOf(LogEventPropertyValue value) =>
        value is ScalarValue scalar ? scalar.Value : value.ToString();

    private static string NameOf(LogEventLevel level) => level switch
    {
        LogEventLevel.Verbose => nameof(LogLevel.Trace),
        LogEventLevel.Debug => nameof(LogLevel.Debug),
        LogEventLevel.Information => nameof(LogLevel.Information),
        LogEventLevel.Warning => nameof(LogLevel.Warning),
        LogEventLevel.Error => nameof(LogLevel.Error),
        _ => nameof(LogLevel.Critical),
    };
}

/// <summary>A node's log on its console in the format <c>json</c>.</summary>
internal sealed class NodeConsoleJson(TimeProvider time) : ConsoleFormatter(FormatterName)
{
    public const string FormatterName = "corfu-json";

    public override void Write<TState>(
        in LogEntry<TState> logEntry, IExternalScopeProvider? scopeProvider, TextWriter textWriter) =>
        textWriter.WriteLine(JsonLine.Of(new LogEventLine(
            time.GetUtcNow(), logEntry.LogLevel.ToString(), logEntry.Category, logEntry.EventId.Id,
            logEntry.EventId.Name, logEntry.Formatter(logEntry.State, logEntry.Exception))
        {
            Trace = Activity.Current?.TraceId.ToHexString(),
            Span = Activity.Current?.SpanId.ToHexString(),
            Exception = logEntry.Exception,
            Fields = (logEntry.State as IEnumerable<KeyValuePair<string, object?>> ?? [])
                .Where(field => field.Key != "{OriginalFormat}"),
        }));
}
