namespace Corfu.Storage;

/// <summary>The bytes of a log as a recovery scan finds them on a device, holes and garbage included.</summary>
public interface ILogImage
{
    /// <summary>The lowest address that may hold a record; above 0 only after trimmed parts were deleted.</summary>
    long Begin { get; }

    /// <summary>No byte was ever written at or above.</summary>
    long End { get; }

    /// <summary>Size of the parts in which the middle of the log may be missing; 0 if it never is.</summary>
    long PartSize => 0;

    /// <summary>The address itself or, in a missing part, the beginning of the next part that exists.</summary>
    long SkipMissing(long address) => address;

    /// <summary>Fills the buffer; what lies outside or cannot exist reads as zeros.</summary>
    ValueTask ReadAsync(long address, Memory<byte> buffer);
}

/// <summary>A sliding window over a log image: sequential reads of a few megabytes instead of one per record.</summary>
public sealed class LogWindow(ILogImage image, int size)
{
    private byte[] _buffer = new byte[(int)Math.Clamp(image.End, 1, size)];
    private long _start;
    private int _length;

    public long End => image.End;

    public long SkipMissing(long address) => image.SkipMissing(address);

    /// <summary>At least <paramref name="count"/> bytes from the address on, or as many as there are before the image's
    /// end.</summary>
    public async ValueTask<ReadOnlyMemory<byte>> GetAsync(long address, int count)
    {
        var available = (int)Math.Min(count, image.End - address);
        if (available <= 0) return default;
        if (address < _start || address + available > _start + _length) await LoadAsync(address, available);
        var offset = (int)(address - _start);
        return _buffer.AsMemory(offset, _length - offset);
    }

    private async ValueTask LoadAsync(long address, int count)
    {
        if (count > _buffer.Length) _buffer = new byte[count];
        _start = address;
        _length = (int)Math.Min(_buffer.Length, image.End - address);
        await image.ReadAsync(address, _buffer.AsMemory(0, _length));
    }
}
