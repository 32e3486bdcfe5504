using System.Net;
using System.Net.Sockets;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Support;

internal static class FreePorts
{
    /// <summary>An endpoint of this machine where nothing listens.</summary>
    public static NodeEndpoint Endpoint()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return new NodeEndpoint("127.0.0.1", ((IPEndPoint)listener.LocalEndpoint).Port);
    }
}
