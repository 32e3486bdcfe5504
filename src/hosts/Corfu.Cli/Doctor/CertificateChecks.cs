using System.Globalization;

namespace Corfu.Cli;

/// <summary>Checks of certificates and of how connections are protected.</summary>
internal static class CertificateChecks
{
    private static readonly TimeSpan Fault = TimeSpan.FromDays(3);
    private static readonly TimeSpan ClockBound = TimeSpan.FromMinutes(5);

    public static IEnumerable<Finding> Of(string subject, ProcessReport process, DateTimeOffset now) =>
        process.Certificates.Select(certificate => Of(subject, certificate, now)).Append(ModeOf(subject, process));

    /// <summary>A certificate is renewed in its last third.</summary>
    public static Finding Of(string subject, CertificateReport certificate, DateTimeOffset now)
    {
        var where = $"{subject} {certificate.Name}";
        var left = certificate.NotAfter - now;
        var life = certificate.NotAfter - certificate.NotBefore;
        var ends = string.Create(CultureInfo.InvariantCulture, $"{certificate.NotAfter:yyyy-MM-dd HH:mm}Z");
        var renew = certificate.IsAnchor
            ? "put a new CA's certificate beside it into every ca.pem, then issue certificates anew"
            : "'corfu cert renew --ca CA --dir DIR'";
        return left <= TimeSpan.Zero
            ? Finding.Fault("certificates", where, $"expired at {ends}: {renew}")
            : certificate.NotBefore - now > ClockBound
                ? Finding.Fault("certificates", where, string.Create(CultureInfo.InvariantCulture,
                    $"not valid before {certificate.NotBefore:yyyy-MM-dd HH:mm}Z: correct the clocks"))
                : left < Fault
                    ? Finding.Fault("certificates", where, $"ends at {ends}: {renew}")
                    : left < life / 3
                        ? Finding.Advice("certificates", where, $"ends at {ends}, in its last third: {renew}")
                        : Finding.Ok("certificates", where, $"valid until {ends}");
    }

    private static Finding ModeOf(string subject, ProcessReport process) => process switch
    {
        { IsInsecure: true, Tls: TlsMode.Off } => Finding.Fault("tls", subject,
            "insecure: every program that reaches its port can read, append, trim and reconfigure. Issue certificates "
            + "('corfu cert issue') and remove \"insecure\" from node.json"),
        { Tls: TlsMode.Both } => Finding.Advice("tls", subject,
            "connections without TLS are accepted too: set tls.mode to required when all clients speak TLS"),
        { Tls: TlsMode.Off } => Finding.Ok("tls", subject, "plain, on loopback alone"),
        _ => Finding.Ok("tls", subject, "required"),
    };
}
