using System.Buffers;
using System.IO.Pipelines;
using System.Net.Security;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>The encrypted side of a connection behind its TLS handshake.</summary>
internal sealed record EncryptedPipe(PipeReader Input, PipeWriter Output) : IDuplexPipe
{
    /// <summary>A TLS record holds 16 KiB at most, so that a read takes one whole.</summary>
    private const int ReadBuffer = 32 << 10;

    private static readonly StreamPipeReaderOptions s_reading =
        new(MemoryPool<byte>.Shared, ReadBuffer, ReadBuffer / 8, leaveOpen: true, useZeroByteReads: true);

    private static readonly StreamPipeWriterOptions s_writing = new(leaveOpen: true);

    /// <summary>Serves a connection over its stream, until it ends, or its peer may not go on.</summary>
    /// <param name="stream">Ends with the connection.</param>
    /// <param name="peer">Null: it was refused, and is told so.</param>
    public static async Task ServeAsync(
        ConnectionContext context, SslStream stream, TlsPeer? peer, OpenPeers open, Func<Task> serve)
    {
        var plain = context.Transport;
        context.Transport = new EncryptedPipe(
            PipeReader.Create(stream, s_reading), PipeWriter.Create(stream, s_writing));
        try
        {
            if (peer is not null) open.Add(context, peer);
            await serve().ConfigureAwait(false);
        }
        finally
        {
            open.Remove(context);
            context.Transport = plain;
            await stream.DisposeAsync().ConfigureAwait(false);
        }
    }
}
