namespace Corfu.Protocol;

/// <summary>The peer of a connection, as its certificate names it. Without TLS every peer is a node.</summary>
/// <param name="Name">The certificate's; without one the peer's address. Limits count by it.</param>
public sealed record Principal(AccessRole Role, string Name)
{
    /// <summary>A caller inside the process.</summary>
    public static Principal Local { get; } = new(AccessRole.Node, "local");

    /// <summary>Hexadecimal serial number of the certificate; null without one.</summary>
    public string? Serial { get; init; }

    /// <summary>The hosts that a node's certificate names, as names or addresses. Default: none is stated.</summary>
    public ImmutableArray<string> Hosts { get; init; } = [];

    /// <summary>Whether the peer may say that it listens at this host. A certificate that names no host, and a peer
    /// without one, say so as well.</summary>
    public bool IsAt(string host) => Hosts.IsEmpty || Hosts.Contains(host, StringComparer.OrdinalIgnoreCase);

    /// <summary>The hosts are left out: they follow from the certificate.</summary>
    public bool Equals(Principal? other) =>
        other is not null && (Role, Name, Serial) == (other.Role, other.Name, other.Serial);

    public override int GetHashCode() => HashCode.Combine(Role, Name, Serial);

    /// <summary>The peer of a connection without TLS.</summary>
    public static Principal OfPlain(string address) => new(AccessRole.Node, address);

    public override string ToString() => $"{Role.ToString().ToLowerInvariant()}/{Name}";
}
