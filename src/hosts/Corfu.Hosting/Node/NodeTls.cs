using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json.Serialization;

namespace Corfu.Hosting;

/// <summary>TLS of a node's connections, as <c>tls</c> in its configuration file.</summary>
public sealed record NodeTls
{
    /// <summary>Default: required where there are certificates, else off.</summary>
    [JsonConverter(typeof(JsonStringEnumConverter<TlsMode>))]
    public TlsMode? Mode { get; init; }

    /// <summary>The folder with <c>ca.pem</c> and <c>identity.pem</c>; relative to the configuration file.</summary>
    public string? Certs { get; init; }

    /// <inheritdoc cref="TlsOptions.Map"/>
    public ImmutableArray<NodeTlsMapping>? Map { get; init; }

    /// <inheritdoc cref="TlsOptions.ExpiredNodeGrace"/>
    public TimeSpan? ExpiredNodeGrace { get; init; }

    /// <summary>Opens what the options name; null where connections are plain.</summary>
    /// <exception cref="NodeStartException">The certificate cannot be used, or is not one of a node of this
    /// cluster.</exception>
    internal static ClusterTls? Open(NodeOptions options, TimeProvider time, ILogger logger)
    {
        if (options.Mode == TlsMode.Off) return null;
        try
        {
            var tls = ClusterTls.Open(options.Tls, options.Mode, time, logger)!;
            var identity = tls.Identity;
            if (identity.Role == AccessRole.Node && identity.Cluster.Value == options.Cluster) return tls;
            tls.Dispose();
            throw new NodeStartException($"The certificate of {options.Name} is for {identity}, and this is a node of "
                + $"{options.Cluster}: issue one with 'corfu cert issue --role node'.");
        }
        catch (CertificateException e)
        {
            throw new NodeStartException($"The certificate of {options.Name} cannot be used: {e.Message}", e);
        }
    }

    /// <summary>The node's own certificate, and the anchors that it trusts.</summary>
    internal static ImmutableArray<CertificateReport> ReportsOf(ClusterTls? tls)
    {
        if (tls is null) return [];
        var own = tls.Source.Current;
        return
        [
            Report(own.Certificate, own.Identity.ToString(), isAnchor: false),
            .. own.Anchors.Take(ProcessReport.MaxItems - 1).Select(anchor =>
                Report(anchor, anchor.Subject, isAnchor: true)),
        ];

        static CertificateReport Report(X509Certificate2 certificate, string name, bool isAnchor) =>
            new(name, certificate.SerialNumber, new DateTimeOffset(certificate.NotBefore.ToUniversalTime()),
                new DateTimeOffset(certificate.NotAfter.ToUniversalTime()), isAnchor)
            {
                Fingerprint = certificate.GetCertHashString(HashAlgorithmName.SHA256),
            };
    }

    /// <summary>Null: all is as it should be.</summary>
    internal static string? WarningOf(ClusterTls? tls) =>
        tls is { Mode: TlsMode.Both }
            ? "accepts connections without TLS; when no plain one is left, set tls.mode to 'required'"
            : (tls?.Source as CertificateFolder)?.Fault is { } fault
                ? "a renewed certificate does not count: " + fault
                : null;

    /// <param name="folder">The folder of the configuration file.</param>
    internal TlsOptions ToOptions(string folder)
    {
        var standard = new TlsOptions();
        return standard with
        {
            Folder = Certs is null ? null : Path.Combine(folder, Certs),
            Map = [.. (Map is { IsDefault: false } map ? map : []).Select(rule => rule.ToMapping())],
            ExpiredNodeGrace = ExpiredNodeGrace ?? standard.ExpiredNodeGrace,
        };
    }
}

/// <summary>A certificate of a company's own authority, and the role and name that it has here.</summary>
/// <param name="Role"><c>node</c>, <c>admin</c>, <c>client</c> or <c>caller</c>.</param>
public sealed record NodeTlsMapping(string Role, string Name)
{
    /// <inheritdoc cref="CertificateMapping.Uri"/>
    public string? Uri { get; init; }

    /// <inheritdoc cref="CertificateMapping.Dns"/>
    public string? Dns { get; init; }

    /// <inheritdoc cref="CertificateMapping.Subject"/>
    public string? Subject { get; init; }

    internal CertificateMapping ToMapping() =>
        new(CertificateIdentity.RoleOf(Role ?? "") ?? AccessRole.None, Name ?? "")
        {
            Uri = Uri,
            Dns = Dns,
            Subject = Subject,
        };
}
