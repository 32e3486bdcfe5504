namespace Corfu.Hosting;

/// <summary>Gives a stopped node another address. The node's identities and data stay. When the node runs, it asks the
/// cluster for an epoch that names them at the new address. Clients and other nodes learn that as they learn every
/// epoch.</summary>
public static class NodeMove
{
    /// <param name="insecure">Accepts an address other than loopback, as in <see cref="NodeOptions.Insecure"/>.</param>
    /// <param name="peers">Running nodes to ask for the others; empty keeps those of the configuration.</param>
    /// <returns>The address before.</returns>
    /// <exception cref="NodeStartException">The node runs, the folder holds none, or the address is not
    /// valid.</exception>
    public static string Run(string folder, string listen, bool insecure, ImmutableArray<NodeEndpoint> peers)
    {
        using var node = StoppedNode.Open(folder);
        var config = node.Config with
        {
            Listen = listen,
            Insecure = node.Config.Insecure || insecure,
            FrontEnds = node.Config.FrontEnds is null
                ? null
                : [.. node.Config.FrontEndsOrNone.Select(own => Moved(own, listen))],
        };
        if (!peers.IsEmpty) config = config with { Peers = [.. peers.Select(peer => peer.ToString())] };
        node.Save(config);
        return node.Config.Listen;
    }

    // The same port at the node's new address. A malformed address is reported when the configuration is saved.
    private static FrontEndOptions Moved(FrontEndOptions own, string listen) =>
        NodeEndpoint.TryParse(listen, out var to) && own.Endpoint is { } from
            ? own with { Listen = new NodeEndpoint(to.Host, from.Port).ToString() }
            : own;
}
