using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;

namespace Corfu.Server;

/// <summary>The bytes of a connection as a stream, for <see cref="System.Net.Security.SslStream"/>.</summary>
public sealed class DuplexPipeStream(IDuplexPipe pipe) : Stream
{
    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (true)
        {
            var read = await pipe.Input.ReadAsync(cancellationToken).ConfigureAwait(false);
            var waiting = read.Buffer;
            if (read.IsCanceled) throw new OperationCanceledException("The read was cancelled.");
            if (!waiting.IsEmpty)
            {
                // An empty buffer asks only whether there is something. The segments go back to their pool with the
                // advance, so that no length can be taken from them afterwards.
                var count = (int)Math.Min(buffer.Length, waiting.Length);
                var part = waiting.Slice(0, count);
                part.CopyTo(buffer.Span);
                pipe.Input.AdvanceTo(part.End);
                return count;
            }

            pipe.Input.AdvanceTo(waiting.End);
            if (read.IsCompleted) return 0;
        }
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var write = pipe.Output.WriteAsync(buffer, cancellationToken);
        if (!write.IsCompletedSuccessfully) return FinishAsync(write);
        return write.Result.IsCompleted ? ValueTask.FromException(PeerGone()) : ValueTask.CompletedTask;
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <summary>Each write has left already.</summary>
    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private static async ValueTask FinishAsync(ValueTask<FlushResult> write)
    {
        if ((await write.ConfigureAwait(false)).IsCompleted) throw PeerGone();
    }

    private static IOException PeerGone() => new("The peer has closed the connection.");
}
