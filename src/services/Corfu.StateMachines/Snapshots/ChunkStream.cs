namespace Corfu.StateMachines.Snapshots;

/// <summary>Cuts the bytes written into chunks. Asynchronous writes hand full chunks on at once; what is written
/// synchronously waits for the next of them, or for the end.</summary>
internal sealed class ChunkStream(int chunkBytes, Func<ReadOnlyMemory<byte>, CancellationToken, ValueTask> take)
    : Stream
{
    private readonly MemoryStream _waiting = new();

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override void Write(byte[] buffer, int offset, int count) => _waiting.Write(buffer, offset, count);

    public override void Write(ReadOnlySpan<byte> buffer) => _waiting.Write(buffer);

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override async ValueTask WriteAsync(
        ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        _waiting.Write(buffer.Span);
        await HandOnAsync(chunkBytes, cancellationToken);
    }

    public override void Flush()
    {
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Hands the last chunk on, which may be short.</summary>
    public ValueTask EndAsync(CancellationToken cancellationToken) => HandOnAsync(1, cancellationToken);

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    private async ValueTask HandOnAsync(int atLeast, CancellationToken cancellationToken)
    {
        if (_waiting.Length < atLeast) return;
        var start = 0;
        var length = (int)_waiting.Length;
        while (length - start >= atLeast)
        {
            var bytes = Math.Min(chunkBytes, length - start);
            await take(_waiting.GetBuffer().AsMemory(start, bytes), cancellationToken);
            start += bytes;
        }

        var rest = _waiting.GetBuffer().AsSpan(start, length - start).ToArray();
        _waiting.SetLength(0);
        _waiting.Write(rest);
    }
}
