using System.Net;
using Corfu.Hosting;
using Microsoft.AspNetCore.Http;

namespace Corfu.Operations;

/// <summary>Decides who sees which page. Without TLS at loopback: callers on this host see all. Elsewhere: what is
/// anonymous, and the rest with a certificate of the cluster.</summary>
internal sealed class Gate(NodeHttpOptions http, ClusterTls? tls, bool isLocal, IPEndPoint listen)
{
    // Replaced whole.
    private volatile HashSet<string> _anonymous = AnonymousOf(http);

    /// <summary>Takes other anonymous pages while it serves.</summary>
    /// <returns>False: they are those of before.</returns>
    public bool Use(NodeHttpOptions now)
    {
        var anonymous = AnonymousOf(now);
        if (anonymous.SetEquals(_anonymous)) return false;
        _anonymous = anonymous;
        return true;
    }

    public async Task InvokeAsync(HttpContext context, RequestDelegate next)
    {
        var headers = context.Response.Headers;
        headers.XContentTypeOptions = "nosniff";
        headers.CacheControl = "no-store";
        headers.ContentSecurityPolicy = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; "
            + "base-uri 'none'; form-action 'none'";
        headers["Referrer-Policy"] = "no-referrer";
        if (!IsForUs(context.Request.Host))
        {
            await RefuseAsync(context, StatusCodes.Status421MisdirectedRequest,
                $"This node answers under its own address, {listen}.");
            return;
        }

        if (MaySee(context))
        {
            await next(context);
            return;
        }

        await RefuseAsync(context, StatusCodes.Status403Forbidden,
            tls is null
                ? "This page is served to callers on the node's own host, or with a certificate where the node has TLS."
                : "This page needs a client certificate of the cluster with the role client, admin or node.");
    }

    private static HashSet<string> AnonymousOf(NodeHttpOptions http) =>
        [.. http.Anonymous ?? [NodeHttpOptions.Health]];

    private bool MaySee(HttpContext context)
    {
        if (tls is null && isLocal) return true;
        var path = context.Request.Path;
        if (path.StartsWithSegments("/health") && _anonymous.Contains(NodeHttpOptions.Health)) return true;
        if (path.StartsWithSegments("/metrics") && _anonymous.Contains(NodeHttpOptions.Metrics)) return true;
        // The handshake has checked the certificate.
        return context.Features.Get<TlsPeer>() is { Principal.Role: >= AccessRole.Client };
    }

    // A page elsewhere may have a browser ask a loopback address under a name of that page's own.
    private bool IsForUs(HostString host)
    {
        if (tls is not null || !isLocal) return true;
        var name = host.Host.Trim('[', ']');
        return name.Equals("localhost", StringComparison.OrdinalIgnoreCase)
            || (IPAddress.TryParse(name, out var address) && IPAddress.IsLoopback(address));
    }

    private static Task RefuseAsync(HttpContext context, int status, string why)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "text/plain; charset=utf-8";
        return context.Response.WriteAsync(why + "\n", context.RequestAborted);
    }
}
