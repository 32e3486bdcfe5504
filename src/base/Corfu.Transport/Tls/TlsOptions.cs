using System.Collections.Immutable;

namespace Corfu.Transport;

/// <summary>The source of certificates, and which peers are trusted.</summary>
public sealed record TlsOptions
{
    internal static readonly OptionRules<TlsOptions> Rules = new OptionRules<TlsOptions>(new())
        .AtLeast(o => o.ExpiredNodeGrace, TimeSpan.Zero)
        .Above(o => o.RefreshInterval, TimeSpan.Zero)
        .Must(o => o.Map, o => o.Map.All(static mapping => mapping.Fault is null),
            "mappings, each with one of uri, dns and subject, a role and a name");

    /// <summary>A folder with <c>ca.pem</c> and <c>identity.pem</c>. Default: <c>?certs=</c> of the connection string,
    /// else the environment variable <c>CORFU_CERTS</c>.</summary>
    public string? Folder { get; init; }

    /// <summary>A source of certificates that is no folder; goes before <see cref="Folder"/>.</summary>
    public ICertificateSource? Source { get; init; }

    /// <summary>Allows connections without TLS to other addresses than loopback. Default false.</summary>
    public bool Insecure { get; init; }

    /// <summary>Roles of certificates that name no identity of Corfu.</summary>
    public ImmutableArray<CertificateMapping> Map { get; init; } = [];

    /// <summary>Certificates of nodes are accepted for this long after their end, with a warning. Default 7
    /// days.</summary>
    public TimeSpan ExpiredNodeGrace { get; init; } = TimeSpan.FromDays(7);

    /// <summary>How often a folder is looked at for renewed certificates. Default 10 s.</summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
