using System.Net.Security;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>TLS of the cluster's port: the first byte, the handshake, the peer's certificate, then the rest of the
/// connection over the encrypted stream.</summary>
internal sealed class TlsMiddleware(ClusterTls tls, TlsListenOptions options, RoleRegistry registry, OpenPeers open,
    ConnectionDelegate next)
{
    public async Task OnConnectionAsync(ConnectionContext context)
    {
        TlsSession? session = null;
        var isPlain = false;
        using (var waiting = registry.Handshakes.TryWait(context))
        using (var timeout = new CancellationTokenSource(options.HandshakeTimeout, options.Time))
        {
            if (waiting is null)
            {
                context.Abort();
                return;
            }

            try
            {
                var first = await FirstBytes.ReadAsync(context.Transport.Input, timeout.Token).ConfigureAwait(false);
                isPlain = first == FirstByte.Plain && tls.Mode == TlsMode.Both;
                if (first == FirstByte.Tls)
                    session = await TakePlaceAndShakeHandsAsync(context, timeout.Token).ConfigureAwait(false);
                else if (first == FirstByte.Plain && !isPlain)
                    Refuse(context, "plain connection", "it speaks without TLS; connect with corfus:// or craqs://");
            }
            catch (Exception e)
            {
                // A stranger chose the bytes, so any error in reading them is a refusal: Kestrel would log each.
                Refuse(context, "TLS handshake", timeout.IsCancellationRequested
                    ? "its TLS handshake took too long"
                    : $"its TLS handshake failed: {e.Message} {e.InnerException?.Message}");
            }
        }

        if (isPlain) await next(context).ConfigureAwait(false);
        else if (session is null) context.Abort();
        else await ServeAsync(context, session).ConfigureAwait(false);
    }

    private async Task<TlsSession?> TakePlaceAndShakeHandsAsync(ConnectionContext context,
        CancellationToken cancellationToken)
    {
        using var place = registry.Handshakes.TryEnter(context);
        return place is null ? null : await ShakeHandsAsync(context, cancellationToken).ConfigureAwait(false);
    }

    private async Task<TlsSession?> ShakeHandsAsync(ConnectionContext context, CancellationToken cancellationToken)
    {
        var begun = options.Time.GetTimestamp();
        var stream = new SslStream(new DuplexPipeStream(context.Transport));
        PeerVerdict verdict = default;
        try
        {
            await stream.AuthenticateAsServerAsync(tls.ClusterServer(judged => verdict = judged), cancellationToken)
                .ConfigureAwait(false);
        }
        catch
        {
            await stream.DisposeAsync().ConfigureAwait(false);
            throw;
        }

        ServerTelemetry.Handshakes.Record(options.Time.GetElapsedTime(begun).TotalSeconds);
        var refusal = verdict.Peer is null
            ? verdict.Reason ?? "it sent no certificate"
            : stream.NegotiatedApplicationProtocol == ClusterTls.Protocol
                ? null
                : $"it does not offer the protocol {ClusterTls.Protocol} (ALPN); use a client of Corfu";
        if (refusal is not null) Refuse(context, "certificate", refusal);
        return new TlsSession(stream, refusal is null ? verdict.Peer : null, refusal);
    }

    private Task ServeAsync(ConnectionContext context, TlsSession session)
    {
        context.Features.Set(session);
        context.Features.Set(session.Peer?.Principal
            ?? new Principal(AccessRole.None, ServerConnection.PeerOf(context)));
        return EncryptedPipe.ServeAsync(context, session.Stream, session.Peer, open, () => next(context));
    }

    private void Refuse(ConnectionContext context, string kind, string reason)
    {
        ServerTelemetry.Refused.Add(1, ServerTelemetry.Reason(kind));
        registry.LogRefused(context, kind, reason);
    }
}
