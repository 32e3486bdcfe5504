using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent;

/// <summary>A process of the cluster, as its handshake describes it.</summary>
internal sealed class Peer(NodeEndpoint endpoint)
{
    public NodeEndpoint Endpoint => endpoint;

    public ImmutableArray<RoleIdentity> Roles { get; set; } = [];

    public TimeSpan NextDescribe { get; set; }

    public bool IsDescribing { get; set; }

    public NodeId Agent => Roles.FirstOrDefault(role => role.Role == NodeRole.Agent).Id;
}
