using System.Diagnostics.CodeAnalysis;
using System.Net;

namespace Corfu.Protocol;

/// <summary>The grammar that the connection strings of all clients share: a list of endpoints, and escaped
/// values.</summary>
public static class ConnectionSyntax
{
    public const int MaxEndpoints = 64;

    /// <summary>Parses <c>host:port,[address]:port</c>; an endpoint that is named twice counts once.</summary>
    /// <param name="error">Says which endpoint is wrong, and how.</param>
    public static bool TryParseEndpoints(string text, out ImmutableArray<NodeEndpoint> endpoints,
        [NotNullWhen(false)] out string? error)
    {
        ArgumentNullException.ThrowIfNull(text);
        endpoints = default;
        error = null;
        var parts = text.TrimEnd('/').Split(',');
        if (parts.Length > MaxEndpoints)
        {
            error = $"A connection string names at most {MaxEndpoints} endpoints; this one names {parts.Length}.";
            return false;
        }

        var parsed = new NodeEndpoint[parts.Length];
        for (var i = 0; i < parts.Length; i++)
        {
            if (NodeEndpoint.TryParse(parts[i].Trim(), out parsed[i])) continue;
            error = $"Endpoint {i + 1} of the connection string, '{parts[i]}', is not host:port or [address]:port with "
                + "a port from 1 to 65535.";
            return false;
        }

        endpoints = [.. parsed.Distinct()];
        return true;
    }

    /// <summary>Whether all endpoints are on this machine, where no other one listens in.</summary>
    public static bool IsLoopback(ImmutableArray<NodeEndpoint> endpoints) =>
        endpoints.All(static endpoint => endpoint.Host == "localhost"
            || (IPAddress.TryParse(endpoint.Host, out var address) && IPAddress.IsLoopback(address)));

    /// <summary>A value as it stands in a connection string. A path stays readable.</summary>
    public static string Escape(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return value.Replace("%", "%25", StringComparison.Ordinal).Replace("&", "%26", StringComparison.Ordinal);
    }
}
