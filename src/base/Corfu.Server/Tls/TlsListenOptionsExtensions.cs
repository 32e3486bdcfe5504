using Corfu.Server;
using Corfu.Transport;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Https;

namespace Microsoft.AspNetCore.Server.Kestrel.Core;

/// <summary>TLS of Kestrel endpoints, with the certificates of a process.</summary>
public static class CorfuTlsListenOptionsExtensions
{
    /// <summary>Encrypts the cluster's port; stands before <c>UseCorfu</c>. Needs no services of a web host, unlike
    /// <c>UseHttps</c>.</summary>
    /// <param name="registry">Has the limits of handshakes.</param>
    public static ListenOptions UseCorfuTls(this ListenOptions listen, ClusterTls tls, RoleRegistry registry)
    {
        if (tls.Mode == TlsMode.Off) return listen;
        var options = TlsListenOptions.Of(registry);
        var open = new OpenPeers(tls, options.Logger, options.Time);
        listen.Use(next => new TlsMiddleware(tls, options, registry, open, next).OnConnectionAsync);
        return listen;
    }

    /// <summary>HTTPS with the certificates of the cluster. A peer's <c>Principal</c> and <see cref="TlsPeer"/> are
    /// features of its connection; without a certificate there are none. Connections end with their peer's
    /// certificate, and when it is denied.</summary>
    /// <param name="required">Peers without a certificate are refused.</param>
    public static ListenOptions UseCorfuHttps(this ListenOptions listen, ClusterTls tls, bool required = true,
        TlsListenOptions? options = null)
    {
        options ??= new TlsListenOptions();
        var open = new OpenPeers(tls, options.Logger, options.Time);
        listen.UseHttps(new TlsHandshakeCallbackOptions
        {
            HandshakeTimeout = options.HandshakeTimeout,
            OnConnection = context => ValueTask.FromResult(tls.HttpServer(required, peer =>
            {
                context.Connection.Features.Set(peer);
                context.Connection.Features.Set(peer.Principal);
            })),
        });
        listen.Use(next => async context =>
        {
            if (context.Features.Get<TlsPeer>() is { } peer) open.Add(context, peer);
            try
            {
                await next(context).ConfigureAwait(false);
            }
            finally
            {
                open.Remove(context);
            }
        });
        return listen;
    }
}
