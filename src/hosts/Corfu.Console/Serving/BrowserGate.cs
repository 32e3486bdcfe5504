using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Http;

namespace Corfu.WebConsole.Serving;

/// <summary>Lets in the browser that has opened the printed address: its token works once and becomes a cookie.
/// Requests under another host's name are refused, so that no page elsewhere reaches this listener by a name of its
/// own.</summary>
internal sealed class BrowserGate
{
    private const string TokenName = "token";

    private readonly string _token = NewSecret();
    private readonly string _session = NewSecret();
    private readonly string[] _hosts;
    private readonly string _cookie;
    private int _isUsed;

    /// <param name="address">The listener's. Requests name it so, or by <c>localhost</c>.</param>
    public BrowserGate(Uri address)
    {
        // The form that browsers send: without the port where it is the scheme's own.
        _hosts = [address.Authority, new UriBuilder(address) { Host = "localhost" }.Uri.Authority];
        // Cookies of one host are shared by its ports.
        _cookie = $"corfu-console-{address.Port}";
    }

    public string Query => $"?{TokenName}={_token}";

    public async Task InvokeAsync(HttpContext context, RequestDelegate next)
    {
        ConsoleSite.AddPolicy(context.Response);
        if (!_hosts.Contains(context.Request.Host.Value, StringComparer.OrdinalIgnoreCase))
        {
            await RefuseAsync(context, StatusCodes.Status421MisdirectedRequest,
                $"This console answers at http://{_hosts[0]} only.");
            return;
        }

        if (context.Request.Query.TryGetValue(TokenName, out var token))
        {
            if (!IsSame(token.ToString(), _token) || Interlocked.Exchange(ref _isUsed, 1) != 0)
            {
                await RefuseAsync(context, StatusCodes.Status403Forbidden,
                    "This address was opened before, or is not whole. Start 'corfu console' again for another one.");
                return;
            }

            await LetInAsync(context);
            return;
        }

        if (context.Request.Cookies[_cookie] is { } session && IsSame(session, _session))
        {
            await next(context);
            return;
        }

        await RefuseAsync(context, StatusCodes.Status403Forbidden,
            "Open the address that 'corfu console' has printed, with its token, in this browser.");
    }

    private static string NewSecret() => Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(32));

    private static bool IsSame(string given, string known) =>
        CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(given), Encoding.UTF8.GetBytes(known));

    // A redirect would belong to the site whose link was followed, and a strict cookie does not go with it.
    private Task LetInAsync(HttpContext context)
    {
        context.Response.Cookies.Append(_cookie, _session, new CookieOptions
        {
            HttpOnly = true,
            SameSite = SameSiteMode.Strict,
            IsEssential = true,
            Path = "/",
        });
        context.Response.Headers.CacheControl = "no-store";
        return WriteAsync(context, """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>corfu</title>
            <meta http-equiv="refresh" content="0;url=/"></head>
            <body><p><a href="/">Open the console</a></p></body></html>
            """);
    }

    private static Task RefuseAsync(HttpContext context, int status, string why)
    {
        context.Response.StatusCode = status;
        context.Response.Headers.CacheControl = "no-store";
        return WriteAsync(context, $"""
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>corfu</title></head>
            <body><h1>corfu console</h1><p>{why}</p></body></html>
            """);
    }

    private static Task WriteAsync(HttpContext context, string html)
    {
        context.Response.ContentType = "text/html; charset=utf-8";
        return context.Response.WriteAsync(html, context.RequestAborted);
    }
}
