namespace Corfu.Cli;

/// <summary><c>corfu cert renew</c>.</summary>
internal static class CertRenewCommand
{
    private const string Description =
        """
        Give the identities in folders a new key and certificate of the same role, name and hosts. Running processes
        take it within 10 seconds; no append is lost. --dir may be a folder that 'cluster up' made: all its identities
        are renewed, by the authority in it. Only an authority's signature proves what an identity says: one of another
        authority is refused, unless --previous names that one. A key that never leaves its host is renewed with 'corfu
        cert request'.
        """;

    public static Command Create()
    {
        var authority = CertCommand.AuthorityOption();
        authority.Required = false;
        authority.Description = "The folder of the certificate authority (default: that of the cluster's folder).";
        var directories = FoldersOption();
        var days = CertCommand.DaysOption("as long as the one before");
        var hosts = new Option<string[]>("--host")
        {
            Description = "New DNS names and IP addresses, for a node that moves (default: those of the one before).",
            HelpName = "HOST",
            AllowMultipleArgumentsPerToken = true,
        };
        var previous = CertTrustCommand.AuthorityOption("--previous",
            "The authority before, where the authority changes: its folder, or its ca.pem. What it issued is renewed "
            + "too.");
        var command = new Command("renew", Description) { authority, previous, directories, hosts, days };
        command.SetAction(async (result, _) =>
        {
            var given = result.GetRequiredValue(directories);
            var path = result.GetValue(authority)?.FullName
                ?? given.Select(folder => ClusterCertificates.AuthorityOf(folder.FullName))
                    .FirstOrDefault(CertificateAuthority.Exists)
                ?? throw new UsageException("No authority is in the folder: give --ca.");
            var lifetime = CertCommand.LifetimeOf(result.GetValue(days));
            using var opened = CertificateAuthority.Open(path);
            using var before = result.GetValue(previous) is { } other ? CertTrustCommand.AnchorOf(other) : null;
            var output = result.InvocationConfiguration.Output;
            foreach (var folder in FoldersOf(given))
            {
                using var renewed = opened.Renew(
                    folder, lifetime, [.. result.GetValue(hosts) ?? []], before);
                await output.WriteLineAsync($"{folder}: {CertificateIdentity.Of(renewed, out var _)}, serial "
                    + $"{renewed.SerialNumber}, valid until {CertCommand.Moment(renewed.NotAfter)}");
            }

            return ExitCode.Ok;
        });
        return command;
    }

    public static Option<DirectoryInfo[]> FoldersOption() => new("--dir", "-d")
    {
        Description = "A folder with identity.pem, or one that 'cluster up' made.",
        HelpName = "DIR",
        Required = true,
        AllowMultipleArgumentsPerToken = true,
    };

    /// <summary>The folders of identities; those of a cluster's folder one by one.</summary>
    public static IEnumerable<string> FoldersOf(DirectoryInfo[] given) => given.SelectMany(folder =>
        ClusterFolder.Exists(folder.FullName)
            ? ClusterCertificates.FoldersOf(ClusterFolder.Open(folder.FullName))
            : [folder.FullName]);
}
