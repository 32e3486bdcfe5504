using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>Addresses of the cluster's processes. Peers there have reserved places, so that a flood from elsewhere
/// hides no node from the agents of others.</summary>
public sealed class KnownAddresses
{
    private volatile HashSet<IPAddress> _addresses = [];

    /// <summary>Takes the place of the addresses before.</summary>
    public void Replace(IEnumerable<IPAddress> addresses) => _addresses = [.. addresses.Select(Plain)];

    /// <summary>Whether the peer is at one of the addresses, or on this machine: at the address that it connected
    /// to.</summary>
    internal bool Has(ConnectionContext context) =>
        AddressOf(context) is { } address
        && (_addresses.Contains(address)
            || (context.LocalEndPoint is IPEndPoint local && Plain(local.Address).Equals(address)));

    /// <summary>Null where the connection has none.</summary>
    internal static IPAddress? AddressOf(ConnectionContext context) =>
        context.RemoteEndPoint is IPEndPoint peer ? Plain(peer.Address) : null;

    // A listener of both families shows an IPv4 peer as an IPv6 address.
    private static IPAddress Plain(IPAddress address) =>
        address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;
}
