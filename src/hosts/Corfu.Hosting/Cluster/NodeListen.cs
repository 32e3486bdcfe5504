namespace Corfu.Hosting;

/// <summary>The address where a new node listens, and who may connect.</summary>
/// <param name="Address">As <see cref="NodeOptions.Listen"/>.</param>
public sealed record NodeListen(string Address)
{
    /// <summary>The folder of the node's certificate; null without TLS.</summary>
    public string? Certs { get; init; }

    /// <inheritdoc cref="NodeOptions.Insecure"/>
    public bool Insecure { get; init; }

    /// <summary>Front ends of the node. Default: none.</summary>
    public ImmutableArray<FrontEndOptions> FrontEnds { get; init; } = [];

    /// <summary>The TLS part of the configuration in a folder: paths are relative to the folder where they
    /// can be.</summary>
    internal NodeTls? TlsIn(string folder)
    {
        if (Certs is null) return null;
        var relative = Path.GetRelativePath(folder, Certs);
        return new NodeTls { Certs = relative.StartsWith("..", StringComparison.Ordinal) ? Certs : relative };
    }

    /// <summary>The certificate, if it is one of a node at this address; null without TLS.</summary>
    /// <exception cref="CertificateException">The certificate cannot be used.</exception>
    internal ClusterTls? OpenTls()
    {
        if (Certs is null) return null;
        if (Insecure)
            throw new NodeStartException("A certificate (--certs) and --insecure exclude each other.");
        var tls = ClusterTls.Open(new TlsOptions { Folder = Certs })!;
        try
        {
            NodeCertificate.Require(tls.Source.Current, Certs, Address);
            return tls;
        }
        catch
        {
            tls.Dispose();
            throw;
        }
    }
}
