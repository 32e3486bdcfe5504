using System.Diagnostics.CodeAnalysis;

namespace Corfu.Client;

/// <summary>Endpoints of a cluster: <c>corfus://host:port,host:port[?certs=DIR][&amp;cluster=ID]</c> with TLS,
/// <c>corfu://host:port,host:port[?insecure]</c> without. Any nodes of the cluster will do, as long as one holds a
/// layout acceptor. The string holds no secret.</summary>
public sealed record ConnectionString(ImmutableArray<NodeEndpoint> Endpoints)
{
    public const string Scheme = "corfu://";

    public const string TlsScheme = "corfus://";

    public const int MaxEndpoints = ConnectionSyntax.MaxEndpoints;

    /// <summary>Connections are encrypted, and never fall back to plain ones.</summary>
    public bool IsTls { get; init; }

    /// <summary>Plain connections to other addresses than loopback are wanted.</summary>
    public bool IsInsecure { get; init; }

    /// <summary>The folder with this process's certificate. Null: as <see cref="TlsOptions"/>, or the environment
    /// variable <c>CORFU_CERTS</c>.</summary>
    public string? Certificates { get; init; }

    /// <summary>The only cluster to connect to. None: the certificate's, or without TLS the one that answers.</summary>
    public ClusterId Cluster { get; init; }

    /// <exception cref="FormatException">The message says what is wrong and where.</exception>
    public static ConnectionString Parse(string text) =>
        TryParse(text, out var result, out var error) ? result : throw new FormatException(error);

    public static bool TryParse(
        string? text, [NotNullWhen(true)] out ConnectionString? result, [NotNullWhen(false)] out string? error)
    {
        result = null;
        var isTls = text?.StartsWith(TlsScheme, StringComparison.Ordinal) == true;
        if (text is null || (!isTls && !text.StartsWith(Scheme, StringComparison.Ordinal)))
        {
            error = $"A connection string starts with {Scheme} or {TlsScheme}, as in {Scheme}127.0.0.1:7001,"
                + $"127.0.0.1:7002; this one is '{text}'.";
            return false;
        }

        var rest = text[(isTls ? TlsScheme : Scheme).Length..];
        var query = rest.IndexOf('?');
        var list = query < 0 ? rest : rest[..query];
        if (!ConnectionSyntax.TryParseEndpoints(list, out var endpoints, out error)) return false;
        var parsed = new ConnectionString(endpoints) { IsTls = isTls };
        foreach (var part in query < 0 ? [] : rest[(query + 1)..].Split('&'))
        {
            if (TryRead(ref parsed, part) is not { } fault) continue;
            error = fault;
            return false;
        }

        result = parsed;
        return true;
    }

    public bool Equals(ConnectionString? other) =>
        other is not null && IsTls == other.IsTls && IsInsecure == other.IsInsecure
        && Certificates == other.Certificates && Cluster == other.Cluster
        && Endpoints.AsSpan().SequenceEqual(other.Endpoints.AsSpan());

    public override int GetHashCode() => Endpoints.Length == 0 ? 0 : Endpoints[0].GetHashCode();

    public override string ToString()
    {
        List<string> query = [];
        if (Certificates is { } folder) query.Add("certs=" + ConnectionSyntax.Escape(folder));
        if (!Cluster.IsNone) query.Add($"cluster={Cluster}");
        if (IsInsecure) query.Add("insecure");
        return (IsTls ? TlsScheme : Scheme) + string.Join(',', Endpoints)
            + (query.Count == 0 ? "" : "?" + string.Join('&', query));
    }

    /// <summary>Whether all endpoints are on this machine, where no other one listens in.</summary>
    internal bool IsLoopback => ConnectionSyntax.IsLoopback(Endpoints);

    // Returns what is wrong with the part; null for nothing.
    private static string? TryRead(ref ConnectionString parsed, string part)
    {
        var equals = part.IndexOf('=');
        var name = equals < 0 ? part : part[..equals];
        var value = equals < 0 ? "" : Uri.UnescapeDataString(part[(equals + 1)..]);
        switch (name)
        {
            case "certs" when parsed.IsTls && value.Length > 0:
                parsed = parsed with { Certificates = value };
                return null;
            case "cluster" when Guid.TryParseExact(value, "D", out var cluster) && cluster != Guid.Empty:
                parsed = parsed with { Cluster = new ClusterId(cluster) };
                return null;
            case "insecure" when !parsed.IsTls && value is "" or "true":
                parsed = parsed with { IsInsecure = true };
                return null;
            default:
                return $"'{part}' means nothing in a connection string: {TlsScheme} takes certs=DIR and cluster=ID, "
                    + $"{Scheme} takes insecure and cluster=ID.";
        }
    }
}
