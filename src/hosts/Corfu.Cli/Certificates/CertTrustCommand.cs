using System.Security.Cryptography.X509Certificates;

namespace Corfu.Cli;

/// <summary><c>corfu cert trust</c>.</summary>
internal static class CertTrustCommand
{
    private const string Description =
        """
        Add an authority to what the holders of folders trust (ca.pem); running processes read it within 10 seconds. A
        cluster changes its authority in three steps, each for every folder before the next: 'corfu cert trust' with the
        new one, 'corfu cert renew' with the new one and --previous, 'corfu cert trust --only' with the new one.
        """;

    public static Command Create()
    {
        var authority = AuthorityOption("--ca", "The authority's folder, or its ca.pem.");
        authority.Required = true;
        var directories = CertRenewCommand.FoldersOption();
        var only = new Option<bool>("--only") { Description = "Trust no other authority any more." };
        var command = new Command("trust", Description) { authority, directories, only };
        command.SetAction(async (result, _) =>
        {
            using var anchor = AnchorOf(result.GetRequiredValue(authority));
            var output = result.InvocationConfiguration.Output;
            foreach (var folder in CertRenewCommand.FoldersOf(result.GetRequiredValue(directories)))
            {
                if (result.GetValue(only))
                {
                    CertificateFiles.KeepAnchor(folder, anchor);
                    await output.WriteLineAsync($"{folder}: trusts {anchor.Subject} alone");
                    continue;
                }

                var added = CertificateFiles.AddAnchor(folder, anchor);
                await output.WriteLineAsync($"{folder}: {(added ? "now trusts" : "trusted before")} {anchor.Subject}");
            }

            return ExitCode.Ok;
        });
        return command;
    }

    /// <summary>An authority's certificate: its folder, or the file itself.</summary>
    public static Option<FileSystemInfo> AuthorityOption(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "CA",
        CustomParser = result => new FileInfo(result.Tokens[0].Value),
    };

    /// <exception cref="CertificateException">No certificate is there.</exception>
    public static X509Certificate2 AnchorOf(FileSystemInfo authority)
    {
        var path = authority.FullName;
        if (Directory.Exists(path)) path = Path.Combine(path, CertificateFolder.AnchorsFile);
        return CertificateFiles.ReadCertificates(path)[0];
    }
}
