using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Grpc.Tests;

/// <summary>Certificates of one cluster, made for a test.</summary>
internal sealed class Certificates : IDisposable
{
    private readonly CertificateAuthority _authority;
    private readonly List<ClusterTls> _opened = [];

    public Certificates()
    {
        Folder = Directory.CreateTempSubdirectory("corfu-grpc-").FullName;
        _authority = CertificateAuthority.Create(
            Path.Combine(Folder, "ca"), new ClusterId(new Guid(FrontEnd.ClusterId)));
    }

    public string Folder { get; }

    /// <summary>The folder of a new certificate.</summary>
    public string Issue(AccessRole role, string name, TimeSpan? lifetime = null)
    {
        var order = new CertificateOrder(role, name)
        {
            Hosts = ["localhost", "127.0.0.1"],
            Lifetime = lifetime ?? CertificateOrder.DefaultLifetime,
        };
        var folder = Path.Combine(Folder, $"{role}-{name}".ToLowerInvariant());
        _authority.IssueTo(folder, order).Dispose();
        return folder;
    }

    /// <summary>Gives the holder of the folder another certificate with the same identity.</summary>
    public void Renew(string folder) => _authority.Renew(folder).Dispose();

    public ClusterTls Open(string folder)
    {
        var tls = ClusterTls.Open(new TlsOptions { Folder = folder })!;
        _opened.Add(tls);
        return tls;
    }

    public ClusterTls Open(AccessRole role, string name) => Open(Issue(role, name));

    public void Dispose()
    {
        foreach (var tls in _opened) tls.Dispose();
        _authority.Dispose();
        Directory.Delete(Folder, recursive: true);
    }
}
