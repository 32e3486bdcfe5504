using System.Globalization;

namespace Corfu.WebConsole.Views;

/// <summary>Figures as people read them; the same words on every page.</summary>
public static class Say
{
    /// <summary>Figures older than this are dimmed and have their age beside them.</summary>
    public static readonly TimeSpan Fresh = TimeSpan.FromSeconds(5);

    private static readonly string[] s_units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

    /// <summary>Groups of three digits, with thin spaces that no line breaks at.</summary>
    public static string Number(long value)
    {
        var digits = Math.Abs(value).ToString("N0", CultureInfo.InvariantCulture).Replace(',', '\u202f');
        return value < 0 ? $"\u2212{digits}" : digits;
    }

    public static string Rate(double value) => value switch
    {
        < 0.05 => "0",
        < 10 => value.ToString("0.0", CultureInfo.InvariantCulture),
        _ => Number((long)Math.Round(value)),
    };

    public static string Bytes(double bytes)
    {
        var unit = 0;
        for (; bytes >= 1024 && unit < s_units.Length - 1; unit++) bytes /= 1024;
        var format = unit == 0 || bytes >= 100 ? "0" : "0.0";
        return $"{bytes.ToString(format, CultureInfo.InvariantCulture)}\u00a0{s_units[unit]}";
    }

    public static string Milliseconds(double value) => value switch
    {
        < 10 => $"{value.ToString("0.0", CultureInfo.InvariantCulture)}\u00a0ms",
        < 1000 => $"{value.ToString("0", CultureInfo.InvariantCulture)}\u00a0ms",
        _ => $"{(value / 1000).ToString("0.0", CultureInfo.InvariantCulture)}\u00a0s",
    };

    /// <summary>A duration in its two leading units at most.</summary>
    public static string Duration(TimeSpan time) => time switch
    {
        { TotalSeconds: < 1 } => Milliseconds(Math.Max(0, time.TotalMilliseconds)),
        { TotalSeconds: < 10 } => $"{time.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture)}\u00a0s",
        { TotalMinutes: < 1 } => $"{(int)time.TotalSeconds}\u00a0s",
        { TotalHours: < 1 } => $"{(int)time.TotalMinutes}\u00a0min",
        { TotalDays: < 1 } => $"{(int)time.TotalHours}\u00a0h {time.Minutes}\u00a0min",
        { TotalDays: < 60 } => $"{(int)time.TotalDays}\u00a0d {time.Hours}\u00a0h",
        _ => $"{(int)time.TotalDays}\u00a0d",
    };

    /// <summary>Whole seconds, as the script counts them on.</summary>
    public static string Age(TimeSpan time) => time switch
    {
        { TotalMinutes: < 2 } => $"{Math.Max(0, (int)time.TotalSeconds)}\u00a0s",
        { TotalHours: < 2 } => $"{(int)time.TotalMinutes}\u00a0min",
        _ => $"{(int)time.TotalHours}\u00a0h",
    };

    public static string Clock(DateTimeOffset at) =>
        at.UtcDateTime.ToString("HH:mm:ss", CultureInfo.InvariantCulture);

    public static string Day(DateTimeOffset at) =>
        at.UtcDateTime.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);

    public static string DayAndClock(DateTimeOffset at) => $"{Day(at)} {Clock(at)}";

    public static string Iso(DateTimeOffset at) =>
        at.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);

    public static string Count(long number, string one, string? many = null) =>
        $"{Number(number)} {(number == 1 ? one : many ?? one + "s")}";

    /// <summary>The first part of an identity, which tells it from others.</summary>
    public static string Short(Guid id) => id.ToString("N")[..8];
}
