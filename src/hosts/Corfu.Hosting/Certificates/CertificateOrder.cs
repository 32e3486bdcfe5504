using System.Net;

namespace Corfu.Hosting;

/// <summary>The content of a certificate to be issued, beside its key.</summary>
/// <param name="Name">1 to 63 of the characters a-z, 0-9, point and hyphen. Limits, logs and the audit use it.</param>
public sealed record CertificateOrder(AccessRole Role, string Name)
{
    public static readonly TimeSpan DefaultLifetime = TimeSpan.FromDays(90);

    /// <summary>DNS names and IP addresses at which the holder serves. Browsers and gRPC clients compare them; the
    /// cluster's own port does not.</summary>
    public ImmutableArray<string> Hosts { get; init; } = [];

    /// <summary>From now on. Default: 90 days.</summary>
    public TimeSpan Lifetime { get; init; } = DefaultLifetime;

    /// <summary>Every fault, or empty.</summary>
    public IReadOnlyList<string> Faults()
    {
        var faults = new List<string>();
        if (Role is not (AccessRole.Node or AccessRole.Admin or AccessRole.Client or AccessRole.Caller))
            faults.Add("The role must be node, admin, client or caller.");
        // Points alone are a path, which URIs shorten.
        if (!CertificateIdentity.IsName(Name) || Name.Trim('.').Length == 0)
            faults.Add($"The name '{Name}' is not 1 to 63 of the characters a-z, 0-9, '.' and '-'.");
        faults.AddRange(Hosts.Where(host => !IsHost(host)).Select(host =>
            $"The host '{host}' is neither a DNS name nor an IP address; leave out scheme and port."));
        if (Lifetime < TimeSpan.FromDays(1)) faults.Add("A certificate lives for a day at least.");
        return faults;
    }

    private static bool IsHost(string host) => IPAddress.TryParse(host, out _)
        || (host.Length <= 253 && Uri.CheckHostName(host) == UriHostNameType.Dns);
}
