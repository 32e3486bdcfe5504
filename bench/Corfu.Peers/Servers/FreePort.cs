using System.Net;
using System.Net.Sockets;

namespace Corfu.Peers;

/// <summary>Ports of the loopback address for servers that take no port 0.</summary>
internal static class FreePort
{
    /// <summary>All of them at once, so that they differ.</summary>
    public static int[] Take(int count)
    {
        var sockets = Enumerable.Range(0, count)
            .Select(_ => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)).ToArray();
        try
        {
            return [.. sockets.Select(socket =>
            {
                socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
                return ((IPEndPoint)socket.LocalEndPoint!).Port;
            })];
        }
        finally
        {
            foreach (var socket in sockets) socket.Dispose();
        }
    }
}
