using Corfu.Register;

namespace Corfu.Fuzz;

internal sealed class MemoryDevice : IAcceptorDevice
{
    public byte[][] Content { get; } = [[], []];

    public ValueTask<byte[]> ReadAsync(int area) => ValueTask.FromResult((byte[])Content[area].Clone());

    public void Write(int area, long offset, ReadOnlySpan<byte> bytes)
    {
        if (offset + bytes.Length > Content[area].Length) Array.Resize(ref Content[area], (int)offset + bytes.Length);
        bytes.CopyTo(Content[area].AsSpan((int)offset));
    }

    public void Truncate(int area, long length) => Array.Resize(ref Content[area], (int)length);

    public ValueTask FlushAsync(int area) => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
