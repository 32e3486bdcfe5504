using System.Globalization;

namespace Corfu.Cli;

/// <summary><c>corfu cert</c>: the certificates of a cluster.</summary>
internal static class CertCommand
{
    private const string Description =
        """
        Make, show, renew and revoke the certificates of a cluster. A certificate says which cluster, role and name its
        holder has. A folder of one has ca.pem (what the holder trusts) and identity.pem (key and certificate);
        connection strings name it with '?certs=DIR', else the environment variable CORFU_CERTS does.
        """;

    public static Command Create() => new("cert", Description)
    {
        CertInitCommand.Create(),
        CertIssueCommand.Create(),
        CertRequestCommand.Create(),
        CertShowCommand.Create(),
        CertRenewCommand.Create(),
        CertTrustCommand.Create(),
        CertRevokeCommand.Create(),
    };

    public static Option<DirectoryInfo> AuthorityOption()
    {
        var option = CommonOptions.FolderOption("--ca", "The folder of the certificate authority ('corfu cert init').");
        option.HelpName = "CA";
        return option;
    }

    public static Option<int?> DaysOption(string usual) => new("--days")
    {
        Description = $"How long the certificate is valid ({usual}).",
        HelpName = "N",
    };

    public static TimeSpan? LifetimeOf(int? days) => days switch
    {
        null => null,
        < 1 or > 3650 => throw new UsageException($"--days must be between 1 and 3650, not {days}."),
        _ => TimeSpan.FromDays(days.Value),
    };

    public static string Moment(DateTime moment) =>
        moment.ToUniversalTime().ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture);
}
