using System.Buffers;
using System.Buffers.Binary;
using System.Text;

namespace Corfu.ZooKeeper.Wire;

/// <summary>Frames as they are written, one behind the other, in one buffer that grows. Not thread-safe.</summary>
internal sealed class JuteWriter : IDisposable
{
    private const int Null = -1;
    private const int FirstSize = 512;

    // A large reply does not hold its memory for the rest of a connection.
    private const int MostKept = 64 << 10;

    private byte[] _buffer = [];
    private int _frame = Null;

    /// <summary>Bytes written.</summary>
    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => _buffer.AsSpan(0, Length);

    public ReadOnlyMemory<byte> WrittenMemory => _buffer.AsMemory(0, Length);

    /// <summary>Begins a frame, whose length is written by <see cref="EndFrame"/>.</summary>
    public void BeginFrame()
    {
        _frame = Length;
        WriteInt32(0);
    }

    public void EndFrame()
    {
        var length = Length - _frame - sizeof(int);
        BinaryPrimitives.WriteInt32BigEndian(_buffer.AsSpan(_frame), length);
        _frame = Null;
    }

    public void WriteInt32(int value) => BinaryPrimitives.WriteInt32BigEndian(Take(sizeof(int)), value);

    public void WriteInt64(long value) => BinaryPrimitives.WriteInt64BigEndian(Take(sizeof(long)), value);

    public void WriteBoolean(bool value) => Take(1)[0] = value ? (byte)1 : (byte)0;

    public void WriteNull() => WriteInt32(Null);

    public void WriteBuffer(ReadOnlySpan<byte> bytes)
    {
        WriteInt32(bytes.Length);
        bytes.CopyTo(Take(bytes.Length));
    }

    public void WriteBuffer(ReadOnlyMemory<byte>? bytes)
    {
        if (bytes is { } data) WriteBuffer(data.Span);
        else WriteNull();
    }

    public void WriteString(string? text)
    {
        if (text is null) WriteNull();
        else WriteString(text.AsSpan());
    }

    public void WriteString(ReadOnlySpan<char> text)
    {
        var length = Encoding.UTF8.GetByteCount(text);
        WriteInt32(length);
        Encoding.UTF8.GetBytes(text, Take(length));
    }

    public void WriteStrings(ImmutableArray<string> texts)
    {
        WriteInt32(texts.Length);
        foreach (var text in texts) WriteString(text);
    }

    /// <param name="entries">Default: null.</param>
    public void WriteAcl(ImmutableArray<AclEntry> entries)
    {
        if (entries.IsDefault)
        {
            WriteNull();
            return;
        }

        WriteInt32(entries.Length);
        foreach (var entry in entries)
        {
            WriteInt32((int)entry.Permissions);
            WriteString(entry.Scheme);
            WriteString(entry.Id);
        }
    }

    public void WriteStat(in NodeStat stat)
    {
        WriteInt64(stat.Czxid);
        WriteInt64(stat.Mzxid);
        WriteInt64(stat.Ctime);
        WriteInt64(stat.Mtime);
        WriteInt32(stat.Version);
        WriteInt32(stat.Cversion);
        WriteInt32(stat.Aversion);
        WriteInt64(stat.EphemeralOwner);
        WriteInt32(stat.DataLength);
        WriteInt32(stat.ChildCount);
        WriteInt64(stat.Pzxid);
    }

    /// <summary>Frames that were encoded elsewhere.</summary>
    public void WriteRaw(ReadOnlySpan<byte> bytes) => bytes.CopyTo(Take(bytes.Length));

    /// <summary>Replaces a number that was written before.</summary>
    /// <param name="at">Place of the number, by <see cref="Length"/>.</param>
    public void Replace(int at, int value) =>
        BinaryPrimitives.WriteInt32BigEndian(_buffer.AsSpan(at, sizeof(int)), value);

    public void Clear()
    {
        (Length, _frame) = (0, Null);
        if (_buffer.Length > MostKept) Return();
    }

    public void Dispose()
    {
        Length = 0;
        Return();
    }

    private Span<byte> Take(int length)
    {
        if (length > _buffer.Length - Length) Grow(length);
        var span = _buffer.AsSpan(Length, length);
        Length += length;
        return span;
    }

    private void Grow(int length)
    {
        var size = Math.Max(Math.Max(FirstSize, checked(Length + length)), (int)Math.Min(2L * Length, Array.MaxLength));
        var larger = ArrayPool<byte>.Shared.Rent(size);
        Written.CopyTo(larger);
        Return();
        _buffer = larger;
    }

    private void Return()
    {
        if (_buffer.Length > 0) ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = [];
    }
}
