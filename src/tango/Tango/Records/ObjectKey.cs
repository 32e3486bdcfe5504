using Tango.Formatting;

namespace Tango;

/// <summary>
/// The opaque key of a disjoint part of an object, compared byte for byte (Tango 3.2, Versioning). <c>default</c> is
/// <see cref="None"/>: the operation concerns the whole object. The bytes are the MessagePack encodings of the key
/// parameters, one after the other. A <see cref="List"/> stands for several parts.
/// </summary>
public readonly struct ObjectKey : IEquatable<ObjectKey>
{
    private readonly byte[]? _bytes;

    // Null: one key, or none. Otherwise two at least, each of one part.
    private readonly ObjectKey[]? _parts;

    public ObjectKey(ReadOnlySpan<byte> bytes) => _bytes = bytes.ToArray();

    private ObjectKey(byte[] owned) => _bytes = owned;

    private ObjectKey(ObjectKey[] parts) => _parts = parts;

    public static ObjectKey None => default;

    public bool IsNone => _bytes is null && _parts is null;

    /// <summary>Made of several keys. A class written by hand gives it to its helpers; it has no <see cref="Bytes"/>,
    /// and Apply gets none.</summary>
    public bool IsList => _parts is not null;

    public ReadOnlySpan<byte> Bytes => _bytes;

    internal ReadOnlyMemory<byte> Memory => _bytes;

    /// <summary>Empty, unless <see cref="IsList"/>.</summary>
    internal ReadOnlySpan<ObjectKey> Parts => _parts;

    /// <summary>
    /// For a call that concerns several parts of an object: it conflicts with calls of any of them. Equal keys count
    /// once. In a log of a feature level below 2 the call concerns the whole object.
    /// </summary>
    /// <exception cref="ArgumentException">There is no key, or one of them is <see cref="None"/> or a list.</exception>
    public static ObjectKey List(params ReadOnlySpan<ObjectKey> keys)
    {
        var parts = new List<ObjectKey>(keys.Length);
        foreach (var key in keys)
        {
            if (key._bytes is null) throw new ArgumentException("A part of a list is one key", nameof(keys));
            if (!parts.Contains(key)) parts.Add(key);
        }

        return parts.Count switch
        {
            0 => throw new ArgumentException("A list has a key at least", nameof(keys)),
            1 => parts[0],
            _ => new ObjectKey([.. parts]),
        };
    }

    public static ObjectKey From(ArgumentBuffer buffer) => new(buffer.WrittenSpan.ToArray());

    /// <summary>The key of a [VersionKey] parameter.</summary>
    /// <typeparam name="T">Exactly the parameter's type.</typeparam>
    /// <exception cref="TangoFormatException">The type has no formatter.</exception>
    public static ObjectKey Of<T>(T part) => new(TangoFormatters.ToBytes(part).Span);

    /// <summary>The key of two [VersionKey] parameters, in the order of their declaration.</summary>
    /// <inheritdoc cref="Of{T}(T)"/>
    public static ObjectKey Of<T1, T2>(T1 first, T2 second) =>
        Owning([.. TangoFormatters.ToBytes(first).Span, .. TangoFormatters.ToBytes(second).Span]);

    /// <summary>The key of three [VersionKey] parameters, in the order of their declaration.</summary>
    /// <inheritdoc cref="Of{T}(T)"/>
    public static ObjectKey Of<T1, T2, T3>(T1 first, T2 second, T3 third) =>
        Owning([
            .. TangoFormatters.ToBytes(first).Span, .. TangoFormatters.ToBytes(second).Span,
            .. TangoFormatters.ToBytes(third).Span,
        ]);

    internal static ObjectKey Owning(byte[] bytes) => new(bytes);

    public bool Equals(ObjectKey other) => IsNone == other.IsNone && Bytes.SequenceEqual(other.Bytes)
        && Parts.SequenceEqual(other.Parts);

    public override bool Equals(object? obj) => obj is ObjectKey other && Equals(other);

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Bytes);
        foreach (var part in Parts) hash.Add(part);
        return hash.ToHashCode();
    }

    public override string ToString() => IsNone ? "(whole object)"
        : IsList ? string.Join(' ', Parts.ToArray()) : Convert.ToHexStringLower(Bytes);

    public static bool operator ==(ObjectKey left, ObjectKey right) => left.Equals(right);

    public static bool operator !=(ObjectKey left, ObjectKey right) => !left.Equals(right);
}
