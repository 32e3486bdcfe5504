using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Load;

/// <summary>Address of a role outside any cluster, as text for other processes.</summary>
internal sealed record BareRole(NodeAddress Address, ClusterId Cluster)
{
    public override string ToString() => $"{Address.Endpoint}/{Address.Id.Value:D}/{Cluster.Value:D}";

    public static BareRole Parse(string text)
    {
        var parts = text.Split('/');
        if (parts.Length != 3 || !NodeEndpoint.TryParse(parts[0], out var endpoint))
            throw new FormatException($"'{text}' is no role's address.");
        return new BareRole(new NodeAddress(new NodeId(Guid.Parse(parts[1])), endpoint),
            new ClusterId(Guid.Parse(parts[2])));
    }

    /// <summary>Opens a transport. Each has one connection, so that one transport per process is one connection per
    /// process.</summary>
    public TcpTransport Connect() => new(new TcpTransportOptions { Cluster = Cluster });
}
