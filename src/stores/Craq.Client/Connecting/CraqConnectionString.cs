using System.Diagnostics.CodeAnalysis;

namespace Craq;

/// <summary>Endpoints of CRAQ nodes: <c>craqs://host:port,host:port[?certs=DIR][&amp;cluster=ID][&amp;dc=NAME]</c> with
/// TLS, <c>craq://host:port,host:port[?insecure][&amp;dc=NAME]</c> without. Any nodes will do. The string holds no
/// secret.</summary>
public sealed record CraqConnectionString(ImmutableArray<NodeEndpoint> Endpoints)
{
    public const string Scheme = "craq://";

    public const string TlsScheme = "craqs://";

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

    /// <summary>The datacenter of this process, whose replicas its reads prefer. Null: as
    /// <see cref="CraqClientOptions.Datacenter"/>.</summary>
    public string? Datacenter { get; init; }

    /// <exception cref="FormatException">The message says what is wrong and where.</exception>
    public static CraqConnectionString Parse(string text) =>
        TryParse(text, out var result, out var error) ? result : throw new FormatException(error);

    public static bool TryParse(
        string? text, [NotNullWhen(true)] out CraqConnectionString? result, [NotNullWhen(false)] out string? error)
    {
        result = null;
        var isTls = text?.StartsWith(TlsScheme, StringComparison.Ordinal) == true;
        if (text is null || (!isTls && !text.StartsWith(Scheme, StringComparison.Ordinal)))
        {
            error = $"A connection string of CRAQ starts with {Scheme} or {TlsScheme}, as in {Scheme}127.0.0.1:7101,"
                + $"127.0.0.1:7102; this one is '{text}'.";
            return false;
        }

        var rest = text[(isTls ? TlsScheme : Scheme).Length..];
        var query = rest.IndexOf('?');
        var list = query < 0 ? rest : rest[..query];
        if (!ConnectionSyntax.TryParseEndpoints(list, out var endpoints, out error)) return false;
        var parsed = new CraqConnectionString(endpoints) { IsTls = isTls };
        foreach (var part in query < 0 ? [] : rest[(query + 1)..].Split('&'))
        {
            if (TryRead(ref parsed, part)) continue;
            error = $"'{part}' means nothing in a connection string: {TlsScheme} takes certs=DIR, cluster=ID and "
                + $"dc=NAME, {Scheme} takes insecure, cluster=ID and dc=NAME.";
            return false;
        }

        result = parsed;
        return true;
    }

    public bool Equals(CraqConnectionString? other) =>
        other is not null && IsTls == other.IsTls && IsInsecure == other.IsInsecure
        && Certificates == other.Certificates && Cluster == other.Cluster && Datacenter == other.Datacenter
        && Endpoints.AsSpan().SequenceEqual(other.Endpoints.AsSpan());

    public override int GetHashCode() => Endpoints.Length == 0 ? 0 : Endpoints[0].GetHashCode();

    public override string ToString()
    {
        List<string> query = [];
        if (Certificates is { } folder) query.Add("certs=" + ConnectionSyntax.Escape(folder));
        if (!Cluster.IsNone) query.Add($"cluster={Cluster}");
        if (Datacenter is { } datacenter) query.Add("dc=" + ConnectionSyntax.Escape(datacenter));
        if (IsInsecure) query.Add("insecure");
        return (IsTls ? TlsScheme : Scheme) + string.Join(',', Endpoints)
            + (query.Count == 0 ? "" : "?" + string.Join('&', query));
    }

    /// <summary>Whether all endpoints are on this machine, where no other one listens in.</summary>
    internal bool IsLoopback => ConnectionSyntax.IsLoopback(Endpoints);

    private static bool TryRead(ref CraqConnectionString parsed, string part)
    {
        var equals = part.IndexOf('=');
        var value = equals < 0 ? "" : Uri.UnescapeDataString(part[(equals + 1)..]);
        CraqConnectionString? read = (equals < 0 ? part : part[..equals]) switch
        {
            "certs" when parsed.IsTls && value.Length > 0 => parsed with { Certificates = value },
            "cluster" when Guid.TryParseExact(value, "D", out var cluster) && cluster != Guid.Empty =>
                parsed with { Cluster = new ClusterId(cluster) },
            "dc" when value.Length > 0 => parsed with { Datacenter = value },
            "insecure" when !parsed.IsTls && value is "" or "true" => parsed with { IsInsecure = true },
            _ => null,
        };
        if (read is null) return false;
        parsed = read;
        return true;
    }
}
