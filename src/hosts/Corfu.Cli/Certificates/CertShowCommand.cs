using System.Security.Cryptography.X509Certificates;
using System.Text.Json;

namespace Corfu.Cli;

/// <summary><c>corfu cert show</c>.</summary>
internal static class CertShowCommand
{
    private const string Description =
        """
        Show certificates: those of a file, of a folder (an identity, an authority with all that it issued, a cluster
        that 'cluster up' made), or the one that a running node serves with. Standard error says what is wrong with
        them. Exit code 0 if they can be used, else 1.
        """;

    public static Command Create()
    {
        var what = new Argument<string>("what")
        {
            Description = "A PEM file, a folder, or corfus://HOST:PORT[?certs=DIR].",
            HelpName = "FILE|DIR|corfus://HOST:PORT",
        };
        var json = CommonOptions.JsonOption();
        var command = new Command("show", Description) { what, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var found = await FindAsync(result.GetRequiredValue(what), cancellationToken);
            var output = result.InvocationConfiguration.Output;
            if (result.GetValue(json))
                await output.WriteLineAsync(JsonSerializer.Serialize(found, CliJson.Indented.CertificatesJson));
            else await WriteAsync(output, found);
            foreach (var fault in found.Faults) await result.InvocationConfiguration.Error.WriteLineAsync(fault);
            return found.Faults.Count == 0 ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    private static async Task<CertificatesJson> FindAsync(string what, CancellationToken cancellationToken)
    {
        if (what.Contains("://", StringComparison.Ordinal))
            return await ServedCertificate.ReadAsync(what, cancellationToken);
        var path = Path.GetFullPath(what);
        if (!Directory.Exists(path)) return OfFile(path);
        if (ClusterFolder.Exists(path))
        {
            var folders = ClusterCertificates.FoldersOf(ClusterFolder.Open(path));
            if (folders.IsEmpty)
                throw new CertificateException(
                    $"The cluster in {path} has no certificates. 'corfu cluster down --dir {path}', then 'corfu "
                    + $"cluster up --tls --dir {path}' makes them.");
            CertificatesJson[] all = [.. folders.Select(OfIdentity)];
            return new CertificatesJson([.. all.SelectMany(one => one.Certificates)],
                [.. all.SelectMany(one => one.Faults)]);
        }

        return CertificateAuthority.Exists(path) ? OfAuthority(path) : OfIdentity(path);
    }

    private static CertificatesJson OfFile(string path)
    {
        var found = CertificateFiles.ReadCertificates(path);
        return new CertificatesJson([.. found.Select(one => CertificateJson.Of(one, path))],
            [.. found.Select(one => TimeFault(one, path)).OfType<string>()]);
    }

    private static CertificatesJson OfAuthority(string path)
    {
        using var authority = CertificateAuthority.Open(path);
        var own = CertificateJson.Of(authority.Certificate, Path.Combine(path, CertificateFolder.AnchorsFile));
        // Certificates that the authority issued end one by one; that is no fault of the authority.
        return new CertificatesJson([own, .. authority.Issued().Select(file =>
            CertificateJson.Of(CertificateFiles.ReadCertificates(file)[0], file))], []);
    }

    private static CertificatesJson OfIdentity(string path)
    {
        var certificates = new List<CertificateJson>();
        foreach (var name in (string[])[CertificateFolder.IdentityFile, CertificateFolder.AnchorsFile])
        {
            var file = Path.Combine(path, name);
            if (File.Exists(file))
                certificates.AddRange(CertificateFiles.ReadCertificates(file)
                    .Select(one => CertificateJson.Of(one, file)));
        }

        try
        {
            // As a process would open the folder.
            using var folder = CertificateFolder.Open(path);
            var late = TimeFault(folder.Current.Certificate, Path.Combine(path, CertificateFolder.IdentityFile));
            return new CertificatesJson(certificates, late is null ? [] : [late]);
        }
        catch (CertificateException e)
        {
            return new CertificatesJson(certificates, [e.Message]);
        }
    }

    private static string? TimeFault(X509Certificate2 certificate, string file)
    {
        var now = TimeProvider.System.GetUtcNow().UtcDateTime;
        return certificate.NotAfter.ToUniversalTime() < now
            ? $"{file}: ended at {CertCommand.Moment(certificate.NotAfter)}; renew it with 'corfu cert renew'."
            : certificate.NotBefore.ToUniversalTime() > now
                ? $"{file}: is valid from {CertCommand.Moment(certificate.NotBefore)} on; compare the clocks."
                : null;
    }

    private static async Task WriteAsync(TextWriter output, CertificatesJson found)
    {
        foreach (var own in found.Certificates)
        {
            await output.WriteLineAsync(own.Identity
                ?? (own.Cluster is null ? own.Subject : $"{own.Subject}, authority of {own.Cluster}"));
            await output.WriteLineAsync($"  from    {own.From}");
            await output.WriteLineAsync($"  serial  {own.Serial}");
            await output.WriteLineAsync($"  valid   {CertCommand.Moment(own.NotBefore)} to "
                + $"{CertCommand.Moment(own.NotAfter)} ({DaysText(own.DaysLeft)})");
            if (own.Hosts.Count > 0) await output.WriteLineAsync($"  hosts   {string.Join(", ", own.Hosts)}");
            if (own.Issuer != own.Subject) await output.WriteLineAsync($"  issuer  {own.Issuer}");
            await output.WriteLineAsync($"  key     {own.Key}");
        }
    }

    private static string DaysText(int left) => left < 0 ? "ended" : left == 1 ? "1 day left" : $"{left} days left";
}
