using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango.Collections;

/// <summary>
/// A part of a sorted collection, and how to read it: between two keys, from either end, and how many at most. Each
/// method narrows it: <c>KeyRange.Prefix("jobs/").Above(last).Take(100)</c> is the next page of a prefix.
/// </summary>
public readonly struct KeyRange<T>
    where T : notnull
{
    private static readonly IComparer<T> s_order = TangoOrder<T>.Comparer;

    private readonly Bound? _lower;
    private readonly Bound? _upper;
    private readonly int? _limit;

    // Lower <= upper, if both are there.
    private KeyRange(Bound? lower, Bound? upper, int? limit, bool isReversed)
    {
        _lower = lower;
        _upper = upper;
        _limit = limit;
        IsReversed = isReversed;
    }

    /// <summary>Every key, in ascending order.</summary>
    public static KeyRange<T> All => default;

    /// <summary>From the greatest key down.</summary>
    public bool IsReversed { get; }

    /// <summary>Without the keys below <paramref name="key"/>.</summary>
    /// <exception cref="ArgumentException">The range ends below it.</exception>
    public KeyRange<T> From(T key) => WithLower(key, isInclusive: true);

    /// <summary>Without <paramref name="key"/> and the keys below it.</summary>
    /// <exception cref="ArgumentException">The range ends below it.</exception>
    public KeyRange<T> Above(T key) => WithLower(key, isInclusive: false);

    /// <summary>Without the keys above <paramref name="key"/>.</summary>
    /// <exception cref="ArgumentException">The range begins above it.</exception>
    public KeyRange<T> To(T key) => WithUpper(key, isInclusive: true);

    /// <summary>Without <paramref name="key"/> and the keys above it.</summary>
    /// <exception cref="ArgumentException">The range begins above it.</exception>
    public KeyRange<T> Below(T key) => WithUpper(key, isInclusive: false);

    /// <summary>The same keys from the other end; a limit counts from there.</summary>
    public KeyRange<T> Reversed() => new(_lower, _upper, _limit, !IsReversed);

    /// <summary>At most so many keys, counted from the end where reading begins.</summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="limit"/> is negative.</exception>
    public KeyRange<T> Take(int limit)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(limit);
        return new(_lower, _upper, Math.Min(limit, _limit ?? limit), IsReversed);
    }

    public override string ToString() =>
        (_lower is { } lower ? $"{(lower.IsInclusive ? '[' : '(')}{lower.Key}" : "(")
        + ".."
        + (_upper is { } upper ? $"{upper.Key}{(upper.IsInclusive ? ']' : ')')}" : ")")
        + (IsReversed ? " reversed" : "")
        + (_limit is { } limit ? $" take {limit}" : "");

    /// <summary>The items of a sorted set that are in the range, which costs O(log n) and O(log n) each.</summary>
    /// <param name="items">Ordered by <see cref="TangoOrder{T}"/>.</param>
    internal ImmutableArray<TItem> Of<TItem>(ImmutableSortedSet<T> items, Func<T, TItem> select)
    {
        int start = _lower is { } lower ? Index(items, lower.Key, isBehind: !lower.IsInclusive) : 0;
        int end = _upper is { } upper ? Index(items, upper.Key, isBehind: upper.IsInclusive) : items.Count;
        int count = Math.Min(Math.Max(end - start, 0), _limit ?? int.MaxValue);
        var found = ImmutableArray.CreateBuilder<TItem>(count);
        for (int i = 0; i < count; i++) found.Add(select(items[IsReversed ? end - 1 - i : start + i]));
        return found.MoveToImmutable();
    }

    // How many items stand below the key, itself among them if isBehind.
    private static int Index(ImmutableSortedSet<T> items, T key, bool isBehind)
    {
        int index = items.IndexOf(key);
        return index < 0 ? ~index : isBehind ? index + 1 : index;
    }

    private KeyRange<T> WithLower(T key, bool isInclusive)
    {
        ArgumentNullException.ThrowIfNull(key);
        int order = _lower is { } lower ? s_order.Compare(key, lower.Key) : 1;
        Bound? narrowed = order > 0 || order == 0 && !isInclusive ? new Bound(key, isInclusive) : _lower;
        return Between(narrowed, _upper, nameof(key));
    }

    private KeyRange<T> WithUpper(T key, bool isInclusive)
    {
        ArgumentNullException.ThrowIfNull(key);
        int order = _upper is { } upper ? s_order.Compare(key, upper.Key) : -1;
        Bound? narrowed = order < 0 || order == 0 && !isInclusive ? new Bound(key, isInclusive) : _upper;
        return Between(_lower, narrowed, nameof(key));
    }

    private KeyRange<T> Between(Bound? lower, Bound? upper, string parameter)
    {
        if (lower is { } from && upper is { } to && s_order.Compare(from.Key, to.Key) > 0)
            throw new ArgumentException($"The range would begin at '{from.Key}', above its end '{to.Key}'", parameter);
        return new(lower, upper, _limit, IsReversed);
    }

    private readonly record struct Bound(T Key, bool IsInclusive);
}
