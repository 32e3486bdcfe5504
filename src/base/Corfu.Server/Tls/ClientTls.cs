using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>
/// TLS of a port whose clients speak neither the cluster's protocol nor HTTP. They need a certificate of the cluster's
/// authority, with the role of a client at least: a caller of a front end has no right there. A connection ends with
/// its client's certificate, and when that is denied.
/// </summary>
/// <param name="tls">Stays the caller's.</param>
public sealed class ClientTls(ClusterTls tls, TlsListenOptions options) : IDisposable
{
    private readonly OpenPeers _open = new(tls, options.Logger, options.Time);

    /// <summary>Shakes hands, and serves the client over the connection's transport, which is the encrypted
    /// one.</summary>
    /// <param name="serve">Gets the client's certificate.</param>
    /// <returns>Why the handshake failed, and the connection was closed; null: the client was served.</returns>
    public async Task<string?> ServeAsync(ConnectionContext context, Func<X509Certificate2, Task> serve)
    {
        TlsPeer? peer = null;
        string? fault = null;
        var stream = new SslStream(new DuplexPipeStream(context.Transport));
        using (var limit = new CancellationTokenSource(options.HandshakeTimeout, options.Time))
        {
            try
            {
                var first = await FirstBytes.ReadAsync(context.Transport.Input, limit.Token).ConfigureAwait(false);
                if (first == FirstByte.Plain) fault = "it speaks without TLS";
                else
                    await stream.AuthenticateAsServerAsync(
                        Handshake(accepted => peer = accepted, reason => fault = reason), limit.Token)
                        .ConfigureAwait(false);
            }
            catch (Exception e)
            {
                // A stranger chose the bytes, so any error in reading them is a handshake that failed.
                fault ??= limit.IsCancellationRequested
                    ? "its TLS handshake took too long"
                    : $"its TLS handshake failed: {e.Message} {e.InnerException?.Message}";
            }
        }

        if (fault is not null)
        {
            await stream.DisposeAsync().ConfigureAwait(false);
            context.Abort();
            return fault;
        }

        var certificate = (X509Certificate2)stream.RemoteCertificate!;
        context.Features.Set(peer!.Principal);
        await EncryptedPipe.ServeAsync(context, stream, peer, _open, () => serve(certificate)).ConfigureAwait(false);
        return null;
    }

    /// <summary>Behind the last connection.</summary>
    public void Dispose() => _open.Dispose();

    private SslServerAuthenticationOptions Handshake(Action<TlsPeer> accepted, Action<string> refused)
    {
        TlsPeer? peer = null;
        var handshake = tls.HttpServer(required: true, judged => peer = judged);
        // Clients name no protocol, or one of their own.
        handshake.ApplicationProtocols = null;
        var isTrusted = handshake.RemoteCertificateValidationCallback!;
        handshake.RemoteCertificateValidationCallback = (sender, certificate, chain, errors) =>
        {
            if (!isTrusted(sender, certificate, chain, errors) || peer is null) return false;
            if (peer.Principal.Role < AccessRole.Client)
            {
                refused($"the certificate is for {peer.Principal}, and this port needs the role client");
                return false;
            }

            accepted(peer);
            return true;
        };
        return handshake;
    }
}
