using System.Globalization;
using System.Text;

namespace Corfu.Protocol;

/// <summary>Address of a role: the endpoint of its process, and the identity that must answer there.</summary>
public readonly record struct NodeAddress(NodeId Id, NodeEndpoint Endpoint)
{
    public override string ToString() => $"{Id.Value.ToString("N")[..8]}@{Endpoint}";
}

/// <summary>Identity of a unit, an acceptor (since its folder was formatted) or a sequencer incarnation. An identity
/// once removed from a projection never returns.</summary>
public readonly record struct NodeId(Guid Value) : IComparable<NodeId>
{
    public static readonly NodeId None;

    public bool IsNone => Value == Guid.Empty;

    public int CompareTo(NodeId other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString("D");
}

/// <summary>The host and port of a process. Several roles may share an endpoint.</summary>
public readonly record struct NodeEndpoint(string Host, int Port) : IComparable<NodeEndpoint>
{
    public int CompareTo(NodeEndpoint other)
    {
        var byHost = string.CompareOrdinal(Host, other.Host);
        return byHost != 0 ? byHost : Port.CompareTo(other.Port);
    }

    public override string ToString() => Host.Contains(':') ? $"[{Host}]:{Port}" : $"{Host}:{Port}";

    /// <summary>Accepts <c>host:port</c> and <c>[v6]:port</c>.</summary>
    public static bool TryParse(string? text, out NodeEndpoint endpoint)
    {
        endpoint = default;
        if (string.IsNullOrWhiteSpace(text)) return false;
        var colon = text.LastIndexOf(':');
        if (colon <= 0) return false;
        var host = text[..colon];
        if (host.StartsWith('[') && host.EndsWith(']')) host = host[1..^1];
        else if (host.Contains(':')) return false;
        if (host.Length == 0 || Encoding.UTF8.GetByteCount(host) > MessageLimits.MaxHost) return false;
        if (!int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var port))
            return false;
        if (port is < 1 or > 65535) return false;
        endpoint = new NodeEndpoint(host, port);
        return true;
    }
}

/// <summary>Identity of a cluster; a handshake between different clusters is refused.</summary>
public readonly record struct ClusterId(Guid Value)
{
    public static readonly ClusterId None;

    public bool IsNone => Value == Guid.Empty;

    public override string ToString() => Value.ToString("D");
}

/// <summary>Role of a node. Numbers are part of the wire format; those from 128 on belong to other systems' roles. A
/// process may tell of a role that its peer does not know.</summary>
public enum NodeRole : byte
{
    None = 0,
    Unit = 1,
    Sequencer = 2,
    Acceptor = 3,

    /// <summary>The cluster agent of a process; its identity is new with every start.</summary>
    Agent = 4,
}
