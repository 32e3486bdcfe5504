namespace Corfu.Protocol;

/// <summary>The peer of a connection, as its certificate names it. Without TLS every peer is a node.</summary>
/// <param name="Name">The certificate's; without one the peer's address. Limits count by it.</param>
public sealed record Principal(AccessRole Role, string Name)
{
    /// <summary>A caller inside the process.</summary>
    public static Principal Local { get; } = new(AccessRole.Node, "local");

    /// <summary>Hexadecimal serial number of the certificate; null without one.</summary>
    public string? Serial { get; init; }

    /// <summary>The peer of a connection without TLS.</summary>
    public static Principal OfPlain(string address) => new(AccessRole.Node, address);

    public override string ToString() => $"{Role.ToString().ToLowerInvariant()}/{Name}";
}
