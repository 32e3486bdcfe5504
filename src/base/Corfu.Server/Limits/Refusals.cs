namespace Corfu.Server;

/// <summary>Reasons of refused and cut connections that limits cause, as logs and figures name them.</summary>
internal static class Refusals
{
    public const string Connections = "too many connections";
    public const string IdentityConnections = "too many connections of one identity";
    public const string Certificate = "certificate";
    public const string Handshakes = "too many handshakes";
}
