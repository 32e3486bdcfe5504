using System.Net;

namespace Corfu.Hosting;

/// <summary>The certificates of a cluster on one machine: the authority in <c>ca</c>, an identity in <c>certs</c> of
/// each node's folder, and those of an administrator and of a client in <c>certs</c> of the cluster's.</summary>
public static class ClusterCertificates
{
    internal const string FolderName = "certs";

    private const string AuthorityName = "ca";
    private const string AdminName = "admin";
    private const string ClientName = "client";

    private static readonly ImmutableArray<string> LoopbackHosts = ["localhost", "127.0.0.1", "::1"];

    public static string AuthorityOf(string clusterFolder) => Path.Combine(clusterFolder, AuthorityName);

    public static string AdminOf(string clusterFolder) => Path.Combine(clusterFolder, FolderName, AdminName);

    public static string ClientOf(string clusterFolder) => Path.Combine(clusterFolder, FolderName, ClientName);

    /// <summary>Whether the cluster in a folder has certificates.</summary>
    public static bool Exist(string clusterFolder) => CertificateAuthority.Exists(AuthorityOf(clusterFolder));

    /// <summary>The folders of the identities.</summary>
    public static ImmutableArray<string> FoldersOf(ClusterFolder cluster) =>
    [
        .. cluster.Manifest.Nodes.Select(node => OfNode(cluster.NodePath(node)))
            .Append(AdminOf(cluster.Path)).Append(ClientOf(cluster.Path))
            .Where(folder => File.Exists(Path.Combine(folder, CertificateFolder.IdentityFile))),
    ];

    internal static string OfNode(string nodeFolder) => Path.Combine(nodeFolder, FolderName);

    /// <summary>Makes the authority and the identities that are missing, and renews those in their last third. May be
    /// repeated, and begun again after an interruption.</summary>
    internal static void Prepare(string path, ClusterManifest manifest, TimeProvider time)
    {
        var ca = AuthorityOf(path);
        using var authority = CertificateAuthority.Exists(ca)
            ? CertificateAuthority.Open(ca, time)
            : CertificateAuthority.Create(ca, manifest.ClusterId, time);
        foreach (var node in manifest.Nodes)
            Provide(authority, OfNode(Path.Combine(path, node.Name)), new CertificateOrder(AccessRole.Node, node.Name)
            {
                Hosts = NodeOptionsValidator.AddressOf(node.Host) is { } address && IPAddress.IsLoopback(address)
                    ? LoopbackHosts
                    : [node.Host],
            }, time);
        Provide(authority, AdminOf(path), new CertificateOrder(AccessRole.Admin, AdminName), time);
        Provide(authority, ClientOf(path), new CertificateOrder(AccessRole.Client, ClientName), time);
    }

    private static void Provide(CertificateAuthority authority, string folder, CertificateOrder order,
        TimeProvider time)
    {
        var file = Path.Combine(folder, CertificateFolder.IdentityFile);
        if (!File.Exists(file))
        {
            authority.IssueTo(folder, order).Dispose();
            return;
        }

        using var own = CertificateFiles.ReadCertificates(file)[0];
        var left = own.NotAfter.ToUniversalTime() - time.GetUtcNow().UtcDateTime;
        if (left * 3 < own.NotAfter - own.NotBefore) authority.Renew(folder).Dispose();
    }
}
