using Tango.Formatting;

namespace Tango.Collections;

/// <summary>
/// Equality by the type's own Equals or, for types whose Equals compares references although they stand for their
/// contents, by what the log stores of the values.
/// </summary>
internal sealed class StoredEquality<T> : IEqualityComparer<T>
{
    private static readonly StoredEquality<T> s_instance = new();

    /// <summary>Arrays, collections, and what is made of them.</summary>
    public static bool IsNeeded { get; } = ComparesReferences(typeof(T));

    public static IEqualityComparer<T> Comparer => IsNeeded ? s_instance : EqualityComparer<T>.Default;

    public bool Equals(T? x, T? y) =>
        EqualityComparer<T?>.Default.Equals(x, y)
        || x is not null && y is not null && Stored(x).SequenceEqual(Stored(y));

    // Equal contents must have equal hashes, and the contents' own are by reference.
    public int GetHashCode(T obj) => 0;

    private static bool ComparesReferences(Type type)
    {
        if (type.IsArray) return true;
        if (!type.IsGenericType) return false;
        var isCollection = type.GetGenericTypeDefinition() == typeof(ReadOnlyMemory<>)
            || type.Namespace is "System.Collections.Immutable"
            || type.Namespace is "System.Collections.Generic"
            && type.GetGenericTypeDefinition() != typeof(KeyValuePair<,>);
        return isCollection || Array.Exists(type.GetGenericArguments(), ComparesReferences);
    }

    private static ReadOnlySpan<byte> Stored(T value) => TangoFormatters.ToBytes(value).Span;
}
