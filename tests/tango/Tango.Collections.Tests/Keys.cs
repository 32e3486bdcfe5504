using CsCheck;

namespace Tango.Collections.Tests;

/// <summary>Random string keys and ranges of them, which the tests cut out of a sorted sequence themselves.</summary>
internal static class Keys
{
    /// <summary>Few, so that they meet; cultures order them otherwise.</summary>
    public static Gen<string> Any { get; } = Gen.Char["aBbä\uffff"].Array[0, 2].Select(chars => new string(chars));

    public static Gen<Part> Parts { get; } = Gen.OneOf(
        Gen.Select(Any, Gen.Bool, Any, Gen.Bool, (from, isFrom, to, isTo) =>
            string.CompareOrdinal(from, to) <= 0
                ? new Part($"{from} {isFrom} .. {to} {isTo}",
                    (isFrom ? KeyRange.From(from) : KeyRange.Above(from)) is var lower && isTo
                        ? lower.To(to)
                        : lower.Below(to),
                    key => IsAbove(key, from, isFrom) && IsAbove(to, key, isTo))
                : new Part($"from {from}", KeyRange.From(from), key => IsAbove(key, from, true))),
        Gen.Select(Any, Gen.Bool, (to, isTo) => new Part(
            $"to {to} {isTo}", isTo ? KeyRange.To(to) : KeyRange.Below(to), key => IsAbove(to, key, isTo))),
        Any.Select(prefix => new Part($"prefix {prefix}", KeyRange.Prefix(prefix),
            key => key.StartsWith(prefix, StringComparison.Ordinal))),
        Any.Select(prefix => new Part($"prefix {prefix} above {prefix}", KeyRange.Prefix(prefix).Above(prefix),
            key => key != prefix && key.StartsWith(prefix, StringComparison.Ordinal))),
        Gen.Const(new Part("all", KeyRange<string>.All, _ => true)));

    public static Gen<Scan> Scans { get; } = Gen.Select(Parts, Gen.Bool, Gen.Int[-1, 3], (part, isReversed, limit) =>
    {
        KeyRange<string> range = limit < 0 ? part.Range : part.Range.Take(limit);
        return new Scan($"scan {part.Text} reversed {isReversed} limit {limit}",
            isReversed ? range.Reversed() : range, part.Has, isReversed, limit < 0 ? int.MaxValue : limit);
    });

    private static bool IsAbove(string key, string bound, bool isInclusive) =>
        string.CompareOrdinal(key, bound) is var order && (order > 0 || order == 0 && isInclusive);

    internal sealed record Part(string Text, KeyRange<string> Range, Func<string, bool> Has);

    internal sealed record Scan(
        string Text, KeyRange<string> Range, Func<string, bool> Has, bool IsReversed, int Limit)
    {
        /// <summary>Items that the range finds in a sorted sequence.</summary>
        public T[] Of<T>(IEnumerable<T> sorted, Func<T, string> key)
        {
            IEnumerable<T> found = sorted.Where(item => Has(key(item)));
            return [.. (IsReversed ? found.Reverse() : found).Take(Limit)];
        }
    }
}
