using Tango.Formatting;

namespace Tango;

/// <summary>
/// The opaque key of a disjoint part of an object, compared byte for byte (Tango 3.2, Versioning). <c>default</c> is
/// <see cref="None"/>: the operation concerns the whole object. The bytes are the MessagePack encodings of the key
/// parameters, one after the other.
/// </summary>
public readonly struct ObjectKey : IEquatable<ObjectKey>
{
    private readonly byte[]? _bytes;

    public ObjectKey(ReadOnlySpan<byte> bytes) => _bytes = bytes.ToArray();

    private ObjectKey(byte[] owned) => _bytes = owned;

    public static ObjectKey None => default;

    public bool IsNone => _bytes is null;

    public ReadOnlySpan<byte> Bytes => _bytes;

    internal ReadOnlyMemory<byte> Memory => _bytes;

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

    public bool Equals(ObjectKey other) => IsNone == other.IsNone && Bytes.SequenceEqual(other.Bytes);

    public override bool Equals(object? obj) => obj is ObjectKey other && Equals(other);

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Bytes);
        return hash.ToHashCode();
    }

    public override string ToString() => IsNone ? "(whole object)" : Convert.ToHexStringLower(Bytes);

    public static bool operator ==(ObjectKey left, ObjectKey right) => left.Equals(right);

    public static bool operator !=(ObjectKey left, ObjectKey right) => !left.Equals(right);
}
