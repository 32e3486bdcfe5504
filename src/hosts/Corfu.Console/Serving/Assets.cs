using System.Collections.Frozen;
using System.Security.Cryptography;
using Microsoft.AspNetCore.Http;
using Microsoft.Net.Http.Headers;

namespace Corfu.WebConsole.Serving;

/// <summary>The embedded style sheet, script and icon.</summary>
internal static class Assets
{
    private static readonly FrozenDictionary<string, Asset> s_all = new[]
    {
        Load("console.css", "text/css; charset=utf-8"),
        Load("console.js", "text/javascript; charset=utf-8"),
        Load("icon.svg", "image/svg+xml"),
    }.ToFrozenDictionary(static asset => asset.Name);

    public static Task WriteAsync(HttpContext context, string name)
    {
        if (!s_all.TryGetValue(name, out var asset))
        {
            context.Response.StatusCode = StatusCodes.Status404NotFound;
            return Task.CompletedTask;
        }

        // Kept by the browser, and asked about with each page: another version of the tool has other bytes.
        context.Response.Headers.CacheControl = "no-cache";
        context.Response.Headers.ETag = asset.Tag;
        if (context.Request.Headers[HeaderNames.IfNoneMatch] == asset.Tag)
        {
            context.Response.StatusCode = StatusCodes.Status304NotModified;
            return Task.CompletedTask;
        }

        context.Response.ContentType = asset.Type;
        return context.Response.Body.WriteAsync(asset.Bytes, context.RequestAborted).AsTask();
    }

    private static Asset Load(string name, string type)
    {
        using var stream = typeof(Assets).Assembly.GetManifestResourceStream(name)
            ?? throw new InvalidOperationException($"The assembly lacks {name}.");
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return new Asset(name, type, bytes, $"\"{Convert.ToHexStringLower(SHA256.HashData(bytes))[..16]}\"");
    }

    private sealed record Asset(string Name, string Type, ReadOnlyMemory<byte> Bytes, string Tag);
}
