using System.Globalization;

namespace Corfu.Load.Suite.Html;

/// <summary>Numbers as a reader takes them in: three digits and a unit.</summary>
internal static class Figures
{
    public static string Count(double value) => value switch
    {
        >= 999_500 => Digits(value / 1e6) + "M",
        >= 9_995 => Digits(value / 1e3) + "k",
        >= 999.5 => value.ToString("N0", CultureInfo.InvariantCulture),
        _ => Digits(value),
    };

    public static string Time(double microseconds) => microseconds switch
    {
        >= 999_500 => Digits(microseconds / 1e6) + " s",
        >= 999.5 => Digits(microseconds / 1e3) + " ms",
        _ => Digits(microseconds) + " µs",
    };

    public static string Ratio(double value) => Digits(value);

    private static string Digits(double value) => Math.Abs(value) switch
    {
        0 => "0",
        >= 99.5 => value.ToString("0", CultureInfo.InvariantCulture),
        >= 9.95 => value.ToString("0.#", CultureInfo.InvariantCulture),
        >= 0.995 => value.ToString("0.##", CultureInfo.InvariantCulture),
        >= 0.0995 => value.ToString("0.###", CultureInfo.InvariantCulture),
        _ => value.ToString("0.####", CultureInfo.InvariantCulture),
    };
}
