using System.Buffers;
using System.IO.Pipelines;
using System.Net.Security;

namespace Salus.Nbd.Handshake;

/// <summary>The bytes of a connection inside TLS.</summary>
internal sealed class EncryptedTransport(SslStream stream) : IDuplexPipe
{
    /// <summary>A TLS record holds 16 KiB at most, so that a read takes one whole.</summary>
    private const int ReadBuffer = 32 << 10;

    private static readonly StreamPipeReaderOptions s_reading =
        new(MemoryPool<byte>.Shared, ReadBuffer, ReadBuffer / 8, leaveOpen: false, useZeroByteReads: true);

    private static readonly StreamPipeWriterOptions s_writing = new(leaveOpen: false);

    public PipeReader Input { get; } = PipeReader.Create(stream, s_reading);

    public PipeWriter Output { get; } = PipeWriter.Create(stream, s_writing);
}
