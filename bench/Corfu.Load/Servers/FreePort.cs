using System.Net;
using System.Net.Sockets;

namespace Corfu.Load;

/// <summary>Ports of the loopback address for servers that take no port 0.</summary>
internal static class FreePort
{
    // Below the range of outgoing connections: one of those could take the port before the server has it, and a client
    // that connects too early could be connected to itself.
    private const int First = 20_000;
    private const int Last = 31_999;

    /// <summary>Different ones, from a random start.</summary>
    public static int[] Take(int count)
    {
        var start = Random.Shared.Next(Last - First + 1);
        int[] ports = [.. Enumerable.Range(0, Last - First + 1).Select(i => First + (start + i) % (Last - First + 1))
            .Where(IsFree).Take(count)];
        return ports.Length == count
            ? ports
            : throw new PeerException($"There are no {count} free ports between {First} and {Last}.");
    }

    private static bool IsFree(int port)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
