using System.Collections.Immutable;

namespace Tango.Formatting;

/// <summary>For generated code: the types that an object stores, each checked as it is added.</summary>
public sealed class StoredTypes
{
    private readonly SortedSet<SerializerName> _serializers = [];

    internal StoredTypes()
    {
    }

    /// <summary>The user's, of all the types and of what they are made of.</summary>
    internal ImmutableArray<SerializerName> Serializers => [.. _serializers];

    /// <exception cref="TangoFormatException"><see cref="FormatError.NoFormatter"/> and others.</exception>
    public void Add<T>()
    {
        TangoFormatters.Verify<T>();
        _serializers.UnionWith(TangoFormatters.SerializersOf(typeof(T)));
    }

    /// <exception cref="TangoFormatException">As <see cref="Add{T}"/>, or it is no version key.</exception>
    public void AddKey<T>()
    {
        Add<T>();
        TangoFormatters.VerifyKey<T>();
    }
}
