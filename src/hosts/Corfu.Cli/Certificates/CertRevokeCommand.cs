using System.Security.Cryptography.X509Certificates;

namespace Corfu.Cli;

/// <summary><c>corfu cert revoke</c>.</summary>
internal static class CertRevokeCommand
{
    private const string Description =
        """
        Revoke a certificate before its end, when its key may be in other hands. Nodes refuse it from now on, and end
        its connections. Every agent that answers is told; others learn it from those, and each keeps it.
        """;

    public static Command Create()
    {
        var what = new Argument<string>("what")
        {
            Description = "The certificate's file (a copy is under 'issued' of the authority's folder), or its "
                + "serial number.",
            HelpName = "SERIAL|FILE",
        };
        var command = new Command("revoke", Description) { what };
        var connect = CommonOptions.ConnectOption();
        command.Add(connect);
        command.SetAction(async (result, cancellationToken) =>
        {
            var connection = Connections.Parse(result.GetRequiredValue(connect));
            var own = connection.Certificates ?? Environment.GetEnvironmentVariable(CertificateFolder.Variable);
            var denied = DeniedBy(result.GetRequiredValue(what), own);
            await using var session = await AdminSession.OpenAsync(result.GetRequiredValue(connect), cancellationToken);
            var told = await TellAsync(session, denied, cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"revoked {denied[0].Serial}: {told} agents know, the others will from them");
            return ExitCode.Ok;
        });
        return command;
    }

    /// <param name="own">The folder of this command's own certificate.</param>
    private static ImmutableArray<DeniedCertificate> DeniedBy(string what, string? own)
    {
        var file = Directory.Exists(what) ? Path.Combine(what, CertificateFolder.IdentityFile) : what;
        if (File.Exists(file))
        {
            using var certificate = CertificateFiles.ReadCertificates(file)[0];
            return [new DeniedCertificate(certificate.SerialNumber, TlsPeer.IssuerKeyOf(certificate),
                certificate.NotAfter.ToUniversalTime())];
        }

        if (what.Length == 0 || !what.All(char.IsAsciiHexDigit))
            throw new UsageException($"'{what}' is neither a file nor a serial number.");
        if (own is null)
            throw new UsageException("A serial number counts for an authority: give certificates, or the file.");
        // Which of several authorities issued it is unknown, as is its end.
        return
        [
            .. from authority in CertificateFiles.ReadCertificates(Path.Combine(own, CertificateFolder.AnchorsFile))
               from key in authority.Extensions.OfType<X509SubjectKeyIdentifierExtension>()
               select new DeniedCertificate(
                   what.ToUpperInvariant(), key.SubjectKeyIdentifier!, authority.NotAfter.ToUniversalTime()),
        ];
    }

    private static async Task<int> TellAsync(AdminSession session, ImmutableArray<DeniedCertificate> denied,
        CancellationToken cancellationToken)
    {
        var told = 0;
        var failed = "no agent answers";
        foreach (var agent in await session.AgentsAsync(cancellationToken))
        {
            try
            {
                var answer = await session.Transport.CallAsync(agent.Agent, new DenyRequest(Epoch.None, denied),
                    cancellationToken);
                if (answer.Status == Status.Denied) throw new CorfuDeniedException("Revocation");
                if (answer.IsOk) told++;
                else
                    failed = answer.Status == Status.Overloaded
                        ? "the deny list is full: make a new authority, and give those that stay a certificate of it"
                        : $"{agent.Agent.Endpoint} cannot keep the list: {answer.Status}";
            }
            catch (TransportException e)
            {
                failed = e.Message;
            }
        }

        return told > 0 ? told : throw new CertificateException($"Nothing is revoked: {failed}.");
    }
}
