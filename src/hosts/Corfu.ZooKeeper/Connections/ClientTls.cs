using System.Buffers;
using System.IO.Pipelines;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Corfu.Protocol;
using Corfu.Server;
using Corfu.Transport;

namespace Corfu.ZooKeeper.Connections;

/// <summary>TLS of the clients' port. Clients need a certificate of the cluster's authority, with the role of a client
/// at least: a caller of gRPC has no right here.</summary>
internal sealed class ClientTls(ClusterTls tls)
{
    /// <summary>A TLS record holds 16 KiB at most, so that a read takes one whole.</summary>
    private const int ReadBuffer = 32 << 10;

    private static readonly StreamPipeReaderOptions s_reading =
        new(MemoryPool<byte>.Shared, ReadBuffer, ReadBuffer / 8, leaveOpen: true, useZeroByteReads: true);

    private static readonly StreamPipeWriterOptions s_writing = new(leaveOpen: true);

    /// <exception cref="Exception">The client chose the bytes: any error is a handshake that failed.</exception>
    public async Task<EncryptedClient> OpenAsync(IDuplexPipe transport, CancellationToken cancellationToken)
    {
        TlsPeer? peer = null;
        var subject = "";
        var options = tls.HttpServer(required: true, accepted => peer = accepted);
        // Clients of ZooKeeper name no protocol, or one of their own.
        options.ApplicationProtocols = null;
        var isTrusted = options.RemoteCertificateValidationCallback!;
        options.RemoteCertificateValidationCallback = (sender, certificate, chain, errors) =>
        {
            if (!isTrusted(sender, certificate, chain, errors) || peer is not { Principal.Role: >= AccessRole.Client })
                return false;
            subject = ((X509Certificate2)certificate!).SubjectName.Name;
            return true;
        };
        var stream = new SslStream(new DuplexPipeStream(transport));
        try
        {
            await stream.AuthenticateAsServerAsync(options, cancellationToken).ConfigureAwait(false);
            return new EncryptedClient(stream, peer!, subject,
                PipeReader.Create(stream, s_reading), PipeWriter.Create(stream, s_writing));
        }
        catch
        {
            await stream.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Why a peer may not go on, as its certificate has ended or is denied; null: it may.</summary>
    public string? FaultOf(TlsPeer peer) => tls.FaultOf(peer);
}

/// <param name="Subject">As the scheme <c>x509</c> has it.</param>
internal sealed record EncryptedClient(
    SslStream Stream, TlsPeer Peer, string Subject, PipeReader Input, PipeWriter Output) : IDuplexPipe;
