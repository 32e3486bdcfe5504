using System.Buffers.Binary;
using System.Text;

namespace Corfu.ZooKeeper.Wire;

/// <summary>
/// Reads fields of a record. A field that is malformed sets <see cref="IsMalformed"/>; it and all behind it are read as
/// 0, null or empty. Lengths and counts are checked against the bytes that are left before anything is allocated.
/// </summary>
internal ref struct JuteReader(ReadOnlySpan<byte> data)
{
    private const int Null = -1;

    private ReadOnlySpan<byte> _left = data;

    public bool IsMalformed { get; private set; }

    /// <summary>Bytes not read yet; 0 once the record is malformed.</summary>
    public readonly int Left => _left.Length;

    public int ReadInt32() => TryTake(sizeof(int), out var bytes) ? BinaryPrimitives.ReadInt32BigEndian(bytes) : 0;

    public long ReadInt64() => TryTake(sizeof(long), out var bytes) ? BinaryPrimitives.ReadInt64BigEndian(bytes) : 0;

    /// <summary>Every byte but 0 is true, as in Java.</summary>
    public bool ReadBoolean() => TryTake(1, out var bytes) && bytes[0] != 0;

    /// <summary>The field's bytes in place.</summary>
    /// <returns>False: null, or malformed.</returns>
    public bool TryReadBytes(out ReadOnlySpan<byte> bytes)
    {
        bytes = default;
        var length = ReadInt32();
        return !IsMalformed && length != Null && TryTake(length, out bytes);
    }

    /// <returns>A copy, or null.</returns>
    public byte[]? ReadBuffer() => TryReadBytes(out var bytes) ? bytes.ToArray() : null;

    /// <summary>Bytes that are no UTF-8 become U+FFFD, which no path may have.</summary>
    public string? ReadString() => TryReadBytes(out var bytes) ? Encoding.UTF8.GetString(bytes) : null;

    /// <summary>A string that is malformed if it is null.</summary>
    public string RequireString() => ReadString() ?? Fail("");

    /// <summary>Count of a list.</summary>
    /// <param name="elementSize">Bytes of the smallest element: a longer list than fits is malformed.</param>
    /// <returns>-1: null.</returns>
    public int ReadCount(int elementSize)
    {
        var count = ReadInt32();
        if (count == Null) return Null;
        return count >= 0 && count <= _left.Length / elementSize ? count : Fail(0);
    }

    /// <summary>A null list is read as an empty one. A null string in it is malformed.</summary>
    public ImmutableArray<string> ReadStrings()
    {
        var count = ReadCount(sizeof(int));
        if (count <= 0) return [];
        var strings = ImmutableArray.CreateBuilder<string>(count);
        for (var i = 0; i < count && !IsMalformed; i++) strings.Add(RequireString());
        return strings.DrainToImmutable();
    }

    /// <returns>Default: null.</returns>
    public ImmutableArray<AclEntry> ReadAcl()
    {
        const int Smallest = 3 * sizeof(int);
        var count = ReadCount(Smallest);
        if (count == Null) return default;
        var entries = ImmutableArray.CreateBuilder<AclEntry>(count);
        for (var i = 0; i < count && !IsMalformed; i++)
            entries.Add(new AclEntry((Permissions)ReadInt32(), ReadString(), ReadString()));
        return entries.DrainToImmutable();
    }

    public NodeStat ReadStat()
    {
        var (czxid, mzxid, ctime, mtime) = (ReadInt64(), ReadInt64(), ReadInt64(), ReadInt64());
        var (version, cversion, aversion) = (ReadInt32(), ReadInt32(), ReadInt32());
        var (owner, length, children, pzxid) = (ReadInt64(), ReadInt32(), ReadInt32(), ReadInt64());
        return new NodeStat(
            czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, owner, length, children);
    }

    public T Fail<T>(T value)
    {
        IsMalformed = true;
        _left = default;
        return value;
    }

    private bool TryTake(int length, out ReadOnlySpan<byte> bytes)
    {
        if ((uint)length > (uint)_left.Length)
        {
            bytes = default;
            return Fail(false);
        }

        bytes = _left[..length];
        _left = _left[length..];
        return !IsMalformed;
    }
}
