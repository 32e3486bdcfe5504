using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using Tango.Formatting;

namespace Tango.Collections;

/// <summary>The keys of sorted collections: ordered alike in every process, whatever its culture.</summary>
internal static class SortedKeys<T>
    where T : notnull
{
    private static readonly Type? s_unordered = Unordered(typeof(T));

    /// <summary>State of a new object.</summary>
    /// <exception cref="TangoFormatException">The keys have no order. Thrown when an object is opened.</exception>
    public static ImmutableSortedSet<T> Empty => s_unordered is null
        ? ImmutableSortedSet<T>.Empty.WithComparer(TangoOrder<T>.Comparer)
        : throw new TangoFormatException(FormatError.NotAKey,
            $"{typeof(T)} cannot be the key of a sorted collection: {s_unordered} has no order, it must implement "
            + "IComparable");

    public static Lookup<T> First(ImmutableSortedSet<T> keys) => At(keys, 0);

    public static Lookup<T> Last(ImmutableSortedSet<T> keys) => At(keys, keys.Count - 1);

    /// <summary>The least key above this one, which need not be there.</summary>
    public static Lookup<T> Next(ImmutableSortedSet<T> keys, T key)
    {
        int index = keys.IndexOf(key);
        return At(keys, index < 0 ? ~index : index + 1);
    }

    /// <summary>The greatest key below this one, which need not be there.</summary>
    public static Lookup<T> Previous(ImmutableSortedSet<T> keys, T key)
    {
        int index = keys.IndexOf(key);
        return At(keys, (index < 0 ? ~index : index) - 1);
    }

    private static Lookup<T> At(ImmutableSortedSet<T> keys, int index) =>
        index < 0 || index >= keys.Count ? Lookup<T>.None : Lookup.Of(keys[index]);

    // Null if there is an order. Comparers of tuples look at the parts when values are compared, which is too late.
    private static Type? Unordered(Type type)
    {
        Type plain = Nullable.GetUnderlyingType(type) ?? type;
        if (typeof(ITuple).IsAssignableFrom(plain))
            return Array.Find(plain.GetGenericArguments(), static part => Unordered(part) is not null);
        return typeof(IComparable).IsAssignableFrom(plain) || typeof(IComparable<T>).IsAssignableFrom(plain)
            ? null
            : plain;
    }
}
