using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>The text that a write leaves: "v0000017:0", a number that no other write has, and a balance or
/// mark.</summary>
internal static partial class WrittenValue
{
    /// <summary>Mark of an update that older code cannot read.</summary>
    public const int NewerMark = 1;

    public static string Of(long id, int mark) =>
        string.Create(CultureInfo.InvariantCulture, $"v{id:D7}:{mark}");

    public static long NumberOf(string? value) =>
        value is null ? 0 : long.Parse(value.AsSpan(1, 7), CultureInfo.InvariantCulture);

    /// <param name="opening">Balance of an account that was never written.</param>
    public static int BalanceOf(string? value, int opening) =>
        value is null ? opening : int.Parse(value.AsSpan(9), CultureInfo.InvariantCulture);

    public static bool IsNewer(ReadOnlyMemory<byte> update) => update.Span.EndsWith(":1"u8);

    /// <summary>The numbers of all values that the bytes of a record hold.</summary>
    public static IEnumerable<long> NumbersIn(ReadOnlySpan<byte> record) =>
        Pattern().Matches(Encoding.Latin1.GetString(record))
            .Select(static match => long.Parse(match.Groups[1].ValueSpan, CultureInfo.InvariantCulture));

    [GeneratedRegex("v([0-9]{7}):-?[0-9]+")]
    private static partial Regex Pattern();
}
