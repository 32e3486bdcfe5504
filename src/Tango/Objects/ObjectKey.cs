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
