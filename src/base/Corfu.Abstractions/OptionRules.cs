using System.Globalization;
using System.Runtime.CompilerServices;

namespace Corfu;

/// <summary>The rules of a type of options. A fault names the option, its value, its range and its default.</summary>
/// <param name="standard">Has every default.</param>
public sealed class OptionRules<TOptions>(TOptions standard)
    where TOptions : class
{
    private readonly List<Func<TOptions, IEnumerable<string>>> _rules = [];

    public OptionRules<TOptions> AtLeast<T>(Func<TOptions, T> option, T least,
        [CallerArgumentExpression(nameof(option))] string name = "")
        where T : struct, IComparable<T> =>
        Add(option, name, o => option(o).CompareTo(least) >= 0, $"at least {Text(least)}");

    /// <summary>Null has its own meaning.</summary>
    public OptionRules<TOptions> AtLeast<T>(Func<TOptions, T?> option, T least,
        [CallerArgumentExpression(nameof(option))] string name = "")
        where T : struct, IComparable<T> =>
        Add(option, name, o => option(o) is not { } value || value.CompareTo(least) >= 0,
            $"none, or at least {Text(least)}");

    public OptionRules<TOptions> AtLeast<T>(Func<TOptions, T> option, Func<TOptions, T> least,
        [CallerArgumentExpression(nameof(option))] string name = "",
        [CallerArgumentExpression(nameof(least))] string leastName = "")
        where T : struct, IComparable<T> =>
        Add(option, name, o => option(o).CompareTo(least(o)) >= 0, $"at least {NameOf(leastName)}");

    public OptionRules<TOptions> Above<T>(Func<TOptions, T> option, T bound,
        [CallerArgumentExpression(nameof(option))] string name = "")
        where T : struct, IComparable<T> =>
        Add(option, name, o => option(o).CompareTo(bound) > 0, $"above {Text(bound)}");

    public OptionRules<TOptions> Above<T>(Func<TOptions, T> option, Func<TOptions, T> bound,
        [CallerArgumentExpression(nameof(option))] string name = "",
        [CallerArgumentExpression(nameof(bound))] string boundName = "")
        where T : struct, IComparable<T> =>
        Add(option, name, o => option(o).CompareTo(bound(o)) > 0, $"above {NameOf(boundName)}");

    /// <summary>Both bounds are allowed.</summary>
    public OptionRules<TOptions> Between<T>(Func<TOptions, T> option, T least, T most,
        [CallerArgumentExpression(nameof(option))] string name = "")
        where T : struct, IComparable<T> =>
        Add(option, name, o => option(o).CompareTo(least) >= 0 && option(o).CompareTo(most) <= 0,
            $"{Text(least)} to {Text(most)}");

    /// <summary>Both bounds are allowed; null has its own meaning.</summary>
    public OptionRules<TOptions> Between<T>(Func<TOptions, T?> option, T least, T most,
        [CallerArgumentExpression(nameof(option))] string name = "")
        where T : struct, IComparable<T> =>
        Add(option, name,
            o => option(o) is not { } value || (value.CompareTo(least) >= 0 && value.CompareTo(most) <= 0),
            $"none, or {Text(least)} to {Text(most)}");

    /// <summary>A rule of another kind.</summary>
    /// <param name="range">The values that are allowed, for people.</param>
    public OptionRules<TOptions> Must<T>(Func<TOptions, T> option, Func<TOptions, bool> holds, string range,
        [CallerArgumentExpression(nameof(option))] string name = "") =>
        Add(option, name, holds, range);

    /// <summary>The rules of options within these; null has none.</summary>
    public OptionRules<TOptions> Include<TInner>(Func<TOptions, TInner?> option, OptionRules<TInner> rules,
        [CallerArgumentExpression(nameof(option))] string name = "")
        where TInner : class
    {
        var prefix = NameOf(name) + ".";
        _rules.Add(o => option(o) is { } inner ? rules.FaultsOf(inner).Select(fault => prefix + fault) : []);
        return this;
    }

    /// <summary>A sentence for each option that is out of range.</summary>
    public IReadOnlyList<string> FaultsOf(TOptions options) => [.. _rules.SelectMany(rule => rule(options))];

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Check(TOptions options)
    {
        if (FaultsOf(options) is { Count: > 0 } faults)
            throw new ArgumentException($"Out of range in {typeof(TOptions).Name}: {string.Join(' ', faults)}");
    }

    private OptionRules<TOptions> Add<T>(
        Func<TOptions, T> option, string expression, Func<TOptions, bool> holds, string range)
    {
        var name = NameOf(expression);
        _rules.Add(o => holds(o)
            ? []
            : [$"{name} is {Text(option(o))}: it must be {range}, default {Text(option(standard))}."]);
        return this;
    }

    // The last member of "o => o.Handler.MaxPendingReads".
    private static string NameOf(string expression) => expression[(expression.LastIndexOf('.') + 1)..];

    private static string Text<T>(T value) => value switch
    {
        null => "none",
        TimeSpan time when time == TimeSpan.Zero => "0",
        TimeSpan time when time.Ticks % TimeSpan.TicksPerSecond != 0 => Text(time.TotalMilliseconds) + " ms",
        TimeSpan time => Text(time.TotalSeconds) + " s",
        int or long or ushort => string.Create(CultureInfo.InvariantCulture, $"{value:N0}"),
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        _ => value.ToString()!,
    };
}
