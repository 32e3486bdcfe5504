using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.Fuzz;

internal sealed class MemoryImage(byte[] bytes) : ILogImage
{
    public long Begin => 0;

    public long End => bytes.Length;

    public ValueTask ReadAsync(long address, Memory<byte> buffer)
    {
        buffer.Span.Clear();
        if (address < bytes.Length)
            bytes.AsSpan((int)address, (int)Math.Min(buffer.Length, bytes.Length - address)).CopyTo(buffer.Span);
        return ValueTask.CompletedTask;
    }
}
