using System.Globalization;

namespace Corfu.Operations.Pages;

/// <summary>Numbers as people read them.</summary>
internal static class Format
{
    private static readonly string[] Units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

    public static string Bytes(long bytes)
    {
        if (bytes < 0) return "not known";
        double value = bytes;
        var unit = 0;
        for (; value >= 1024 && unit < Units.Length - 1; unit++) value /= 1024;
        return unit == 0 || value >= 100
            ? string.Create(CultureInfo.InvariantCulture, $"{value:0} {Units[unit]}")
            : string.Create(CultureInfo.InvariantCulture, $"{value:0.0} {Units[unit]}");
    }

    /// <summary>The two largest units, at least seconds.</summary>
    public static string Span(TimeSpan span) => span switch
    {
        { TotalDays: >= 2 } => $"{(int)span.TotalDays} days",
        { TotalHours: >= 1 } => $"{(int)span.TotalHours} h {span.Minutes} min",
        { TotalMinutes: >= 1 } => $"{(int)span.TotalMinutes} min {span.Seconds} s",
        _ => string.Create(CultureInfo.InvariantCulture, $"{span.TotalSeconds:0.0} s"),
    };

    public static string Time(DateTimeOffset time) =>
        time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);
}
