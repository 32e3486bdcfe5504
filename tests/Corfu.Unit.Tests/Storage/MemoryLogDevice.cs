namespace Corfu.Unit.Tests;

internal sealed class MemoryLogDevice : ILogDevice
{
    public byte[] Bytes { get; set; } = [];

    /// <summary>What a power cut would leave that keeps everything, before and after each write.</summary>
    public List<byte[]>? History { get; init; }

    public long Length => Bytes.Length;

    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        History?.Add((byte[])Bytes.Clone());
        if (Bytes.Length < offset + bytes.Length)
        {
            var grown = new byte[offset + bytes.Length];
            Bytes.CopyTo(grown, 0);
            Bytes = grown;
        }

        bytes.CopyTo(Bytes.AsSpan((int)offset));
        History?.Add((byte[])Bytes.Clone());
    }

    public ValueTask FlushAsync() => ValueTask.CompletedTask;

    public ValueTask ReadAsync(long offset, Memory<byte> buffer)
    {
        buffer.Span.Clear();
        var count = (int)Math.Min(buffer.Length, Math.Max(0, Bytes.Length - offset));
        if (count > 0) Bytes.AsMemory((int)offset, count).CopyTo(buffer);
        return ValueTask.CompletedTask;
    }
}
