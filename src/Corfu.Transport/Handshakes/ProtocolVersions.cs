namespace Corfu.Transport;

/// <summary>The protocol versions that this build speaks; the handshake settles on the highest that both sides know.</summary>
public static class ProtocolVersions
{
    public const ushort Lowest = 1;
    public const ushort Highest = 1;
}
