using System.Net.Sockets;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Support;

/// <summary>A peer with another protocol.</summary>
internal static class RawConnection
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    /// <summary>Sends the bytes and waits until the node has closed the connection; true if it has.</summary>
    public static async Task<bool> IsClosedAfterAsync(NodeEndpoint endpoint, byte[] bytes)
    {
        using var deadline = new CancellationTokenSource(Patience);
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(endpoint.Host, endpoint.Port, deadline.Token);
        try
        {
            await socket.SendAsync(bytes, deadline.Token);
            var buffer = new byte[1024];
            while (await socket.ReceiveAsync(buffer, deadline.Token) > 0)
            {
                // A polite refusal may come first.
            }

            return true;
        }
        catch (SocketException)
        {
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }
}
