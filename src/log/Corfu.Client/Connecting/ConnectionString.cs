using System.Diagnostics.CodeAnalysis;

namespace Corfu.Client;

/// <summary>Endpoints of a cluster: <c>corfu://host:port,host:port</c>. Any nodes of the cluster will do, as long as
/// one holds a layout acceptor.</summary>
public sealed record ConnectionString(ImmutableArray<NodeEndpoint> Endpoints)
{
    public const string Scheme = "corfu://";

    public const int MaxEndpoints = 64;

    /// <exception cref="FormatException">The message says what is wrong and where.</exception>
    public static ConnectionString Parse(string text) =>
        TryParse(text, out var result, out var error) ? result : throw new FormatException(error);

    public static bool TryParse(
        string? text, [NotNullWhen(true)] out ConnectionString? result, [NotNullWhen(false)] out string? error)
    {
        result = null;
        error = null;
        if (text is null || !text.StartsWith(Scheme, StringComparison.Ordinal))
        {
            error = $"A connection string starts with {Scheme}, as in {Scheme}127.0.0.1:7001,127.0.0.1:7002; this "
                + $"one is '{text}'.";
            return false;
        }

        var parts = text[Scheme.Length..].TrimEnd('/').Split(',');
        if (parts.Length > MaxEndpoints)
        {
            error = $"A connection string names at most {MaxEndpoints} endpoints; this one names {parts.Length}.";
            return false;
        }

        var endpoints = new NodeEndpoint[parts.Length];
        for (var i = 0; i < parts.Length; i++)
        {
            if (NodeEndpoint.TryParse(parts[i].Trim(), out endpoints[i])) continue;
            error = $"Endpoint {i + 1} of the connection string, '{parts[i]}', is not host:port or [address]:port with "
                + "a port from 1 to 65535.";
            return false;
        }

        result = new ConnectionString([.. endpoints.Distinct()]);
        return true;
    }

    public bool Equals(ConnectionString? other) =>
        other is not null && Endpoints.AsSpan().SequenceEqual(other.Endpoints.AsSpan());

    public override int GetHashCode() => Endpoints.Length == 0 ? 0 : Endpoints[0].GetHashCode();

    public override string ToString() => Scheme + string.Join(',', Endpoints);
}
