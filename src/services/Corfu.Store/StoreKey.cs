using System.Runtime.InteropServices;
using System.Text;

namespace Corfu.Store;

/// <summary>A key: bytes, in the order of bytes. A string stands for its UTF-8.</summary>
public readonly struct StoreKey : IEquatable<StoreKey>, IComparable<StoreKey>
{
    private readonly ImmutableArray<byte> _bytes;

    public StoreKey(ReadOnlySpan<byte> bytes) => _bytes = [.. bytes];

    public StoreKey(string text)
        : this(Encoding.UTF8.GetBytes(text))
    {
    }

    private StoreKey(byte[] owned) => _bytes = ImmutableCollectionsMarshal.AsImmutableArray(owned);

    public static implicit operator StoreKey(string text) => new(text);

    public ReadOnlySpan<byte> Bytes => _bytes.IsDefault ? default : _bytes.AsSpan();

    public int Length => _bytes.IsDefault ? 0 : _bytes.Length;

    /// <summary>The least key above this one.</summary>
    internal StoreKey Next()
    {
        var next = new byte[Length + 1];
        Bytes.CopyTo(next);
        return new StoreKey(next);
    }

    /// <summary>The least key above all those that begin with this one; null: there is none.</summary>
    internal StoreKey? AfterPrefix()
    {
        var end = Bytes.TrimEnd((byte)0xFF).ToArray();
        if (end.Length == 0) return null;
        end[^1]++;
        return new StoreKey(end);
    }

    public int CompareTo(StoreKey other) => Bytes.SequenceCompareTo(other.Bytes);

    public bool Equals(StoreKey other) => Bytes.SequenceEqual(other.Bytes);

    public override bool Equals(object? obj) => obj is StoreKey other && Equals(other);

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Bytes);
        return hash.ToHashCode();
    }

    /// <summary>The text, if the bytes are UTF-8.</summary>
    public override string ToString() => Encoding.UTF8.GetString(Bytes);

    public static bool operator ==(StoreKey left, StoreKey right) => left.Equals(right);

    public static bool operator !=(StoreKey left, StoreKey right) => !left.Equals(right);

    public static bool operator <(StoreKey left, StoreKey right) => left.CompareTo(right) < 0;

    public static bool operator >(StoreKey left, StoreKey right) => left.CompareTo(right) > 0;

    public static bool operator <=(StoreKey left, StoreKey right) => left.CompareTo(right) <= 0;

    public static bool operator >=(StoreKey left, StoreKey right) => left.CompareTo(right) >= 0;
}
