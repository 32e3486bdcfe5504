namespace Corfu.Unit;

/// <summary>A sliding window over a log image: sequential reads of a few megabytes instead of one per record.</summary>
internal sealed class LogWindow(ILogImage image, int size)
{
    // Small images, tests above all, need no window larger than themselves.
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
