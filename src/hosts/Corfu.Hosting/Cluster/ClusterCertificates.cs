namespace Corfu.Hosting;

/// <summary>The certificates of a cluster on one machine: the authority in <c>ca</c>, an identity in <c>certs</c> of
/// each node's folder, and those of an administrator and of a client in <c>certs</c> of the cluster's.</summary>
public static class ClusterCertificates
{
    internal const string FolderName = "certs";

    /// <summary>The TLS configuration of a node of the cluster.</summary>
    internal static NodeTls OfNodes { get; } = new() { Certs = FolderName };

    private const string AuthorityName = "ca";
    private const string AdminName = "admin";
    private const string ClientName = "client";

    private static readonly ImmutableArray<string> LoopbackHosts = ["localhost", "127.0.0.1", "::1"];

    public static string AuthorityOf(string clusterFolder) => Path.Combine(clusterFolder, AuthorityName);

    public static string AdminOf(string clusterFolder) => Path.Combine(clusterFolder, FolderName, AdminName);

    public static string ClientOf(string clusterFolder) => Path.Combine(clusterFolder, FolderName, ClientName);

    /// <summary>Whether the cluster in a folder has certificates.</summary>
    public static bool Exist(string clusterFolder) =>
        File.Exists(Path.Combine(AdminOf(clusterFolder), CertificateFolder.IdentityFile));

    /// <summary>The folders of the identities.</summary>
    public static ImmutableArray<string> FoldersOf(ClusterFolder cluster) =>
    [
        .. cluster.Manifest.Nodes.Select(node => OfNode(cluster.NodePath(node)))
            .Append(AdminOf(cluster.Path)).Append(ClientOf(cluster.Path))
            .Where(folder => File.Exists(Path.Combine(folder, CertificateFolder.IdentityFile))),
    ];

    /// <summary>Issues a node's certificate into <c>certs</c> of its folder, or renews the certificate in its last
    /// third.</summary>
    /// <param name="authority">The folder of the cluster's authority.</param>
    /// <param name="nodeFolder">The last part is the node's name.</param>
    /// <param name="host">The address at which the node listens.</param>
    /// <returns>The folder of the certificate.</returns>
    /// <exception cref="CertificateException">There is no authority, or its files cannot be used.</exception>
    public static string ProvideNode(string authority, string nodeFolder, string host, TimeProvider? time = null)
    {
        time ??= TimeProvider.System;
        using var open = CertificateAuthority.Open(authority, time);
        var folder = OfNode(nodeFolder);
        Provide(open, folder, OrderOf(Path.GetFileName(nodeFolder), host), time);
        return folder;
    }

    internal static string OfNode(string nodeFolder) => Path.Combine(nodeFolder, FolderName);

    /// <summary>Makes the authority and the identities that are missing, and renews those in their last third. May be
    /// repeated, and begun again after an interruption.</summary>
    /// <exception cref="CertificateException">An identity is missing, and so is the authority.</exception>
    /// <param name="configure">Makes the nodes use what was issued; then the cluster counts as one that has
    /// certificates.</param>
    internal static void Prepare(string path, ClusterManifest manifest, TimeProvider time, Action? configure = null)
    {
        var ca = AuthorityOf(path);
        (string Folder, CertificateOrder Order)[] wanted =
        [
            .. manifest.Nodes.Select(node => (OfNode(Path.Combine(path, node.Name)), OrderOf(node.Name, node.Host))),
            (ClientOf(path), new CertificateOrder(AccessRole.Client, ClientName)),
        ];
        if (Exist(path) && !CertificateAuthority.Exists(ca))
        {
            // An operator may keep the authority elsewhere, and renew from there.
            var without = wanted.FirstOrDefault(own => !HasIdentity(own.Folder)).Folder;
            if (without is null) return;
            throw new CertificateException(
                $"{without} needs a certificate, and the authority is not in {ca}. Put it back, or issue one with "
                + $"'corfu cert issue --ca CA --role node --name {Path.GetFileName(Path.GetDirectoryName(without))} "
                + $"--host HOST --to {without}'.");
        }

        using var authority = CertificateAuthority.Exists(ca)
            ? CertificateAuthority.Open(ca, time)
            : CertificateAuthority.Create(ca, manifest.ClusterId, time);
        foreach (var (folder, order) in wanted) Provide(authority, folder, order, time);
        configure?.Invoke();
        // The mark of a cluster with certificates comes last.
        Provide(authority, AdminOf(path), new CertificateOrder(AccessRole.Admin, AdminName), time);
    }

    private static CertificateOrder OrderOf(string name, string host) => new(AccessRole.Node, name)
    {
        Hosts = ClusterManifest.IsLoopback(host) ? [.. LoopbackHosts.Append(host).Distinct()] : [host],
    };

    private static bool HasIdentity(string folder) =>
        File.Exists(Path.Combine(folder, CertificateFolder.IdentityFile));

    private static void Provide(CertificateAuthority authority, string folder, CertificateOrder order,
        TimeProvider time)
    {
        if (!HasIdentity(folder))
        {
            authority.IssueTo(folder, order).Dispose();
            return;
        }

        using var own = CertificateFiles.ReadCertificates(Path.Combine(folder, CertificateFolder.IdentityFile))[0];
        var left = own.NotAfter.ToUniversalTime() - time.GetUtcNow().UtcDateTime;
        if (left * 3 < own.NotAfter - own.NotBefore) authority.Renew(folder).Dispose();
    }
}
