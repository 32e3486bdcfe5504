using System.Text;

namespace Craq;

/// <summary>The key of an object within its chain: 1 to <see cref="MaxLength"/> bytes. Keys are equal by their
/// bytes.</summary>
public readonly struct ObjectKey : IEquatable<ObjectKey>
{
    /// <summary>Bytes, as memcached has them.</summary>
    public const int MaxLength = 250;

    /// <summary>The bytes are not copied: they must not change while the key is in use.</summary>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    public ObjectKey(ReadOnlyMemory<byte> bytes)
    {
        if (bytes.Length is 0 or > MaxLength)
            throw new ArgumentException($"A key has 1 to {MaxLength} bytes, not {bytes.Length}.", nameof(bytes));
        Bytes = bytes;
    }

    /// <summary>A key of text, in UTF-8.</summary>
    public ObjectKey(string text)
        : this(Encoding.UTF8.GetBytes(text))
    {
    }

    public ReadOnlyMemory<byte> Bytes { get; }

    public static implicit operator ObjectKey(string text) => new(text);

    public static bool operator ==(ObjectKey a, ObjectKey b) => a.Equals(b);
    public static bool operator !=(ObjectKey a, ObjectKey b) => !a.Equals(b);

    /// <summary>The key with bytes of its own.</summary>
    public ObjectKey ToOwned() => new(Bytes.ToArray());

    public bool Equals(ObjectKey other) => Bytes.Span.SequenceEqual(other.Bytes.Span);

    public override bool Equals(object? obj) => obj is ObjectKey other && Equals(other);

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Bytes.Span);
        return hash.ToHashCode();
    }

    /// <summary>The text, or the bytes in hexadecimal where they are no printable text.</summary>
    public override string ToString()
    {
        foreach (var b in Bytes.Span)
        {
            if (b is < 0x21 or > 0x7e) return Convert.ToHexStringLower(Bytes.Span);
        }

        return Encoding.ASCII.GetString(Bytes.Span);
    }
}
