using System.Net;
using System.Net.Sockets;

namespace Corfu.Transport;

/// <summary>Connects without <see cref="Socket.ConnectAsync(EndPoint)"/>, which takes a millisecond for a stack trace when
/// it is refused at once, and thirty the first time.</summary>
internal static class SocketConnect
{
    /// <returns>OperationAborted when the token was cancelled first.</returns>
    public static async ValueTask<SocketError> ConnectAsync(Socket socket, string host, int port,
        CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested) return SocketError.OperationAborted;
        using var attempt = new SocketAsyncEventArgs();
        attempt.RemoteEndPoint = IPAddress.TryParse(host, out var address)
            ? new IPEndPoint(address, port)
            : new DnsEndPoint(host, port);
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        attempt.Completed += (_, _) => ended.SetResult();
        if (socket.ConnectAsync(attempt))
        {
            await using var cancelled =
                cancellationToken.UnsafeRegister(
                    static state => Socket.CancelConnectAsync((SocketAsyncEventArgs)state!), attempt);
            await ended.Task.ConfigureAwait(false);
        }

        return attempt.SocketError;
    }
}
