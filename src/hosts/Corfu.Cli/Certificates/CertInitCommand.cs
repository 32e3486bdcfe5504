namespace Corfu.Cli;

/// <summary><c>corfu cert init</c>.</summary>
internal static class CertInitCommand
{
    private const string Description =
        """
        Make the certificate authority of one cluster, valid for 10 years. The folder's key makes nodes and
        administrators: keep it on a machine of its own, with a copy.
        """;

    public static Command Create()
    {
        var directory = CommonOptions.FolderOption("--dir", "A new or empty folder.");
        var cluster = new Option<Guid?>("--cluster")
        {
            Description = "The identity of a cluster that there is (default: a new one).",
            HelpName = "ID",
        };
        var command = new Command("init", Description) { directory, cluster };
        command.SetAction(async (result, _) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            if (result.GetValue(cluster) == Guid.Empty) throw new UsageException("--cluster: zeros are no cluster.");
            var id = new ClusterId(result.GetValue(cluster) ?? SystemEntropy.Instance.NewGuid());
            using var authority = CertificateAuthority.Create(folder, id);
            var output = result.InvocationConfiguration.Output;
            await output.WriteLineAsync($"cluster {authority.Cluster}");
            await output.WriteLineAsync($"authority {authority.Certificate.Subject}, valid until "
                + CertCommand.Moment(authority.Certificate.NotAfter));
            await output.WriteLineAsync(
                $"corfu cert issue --ca {folder} --role node --name NAME --host HOST --to DIR");
            return ExitCode.Ok;
        });
        return command;
    }
}
