using System.Net;
using System.Net.Sockets;

namespace Corfu.Transport;

/// <summary>
/// Connects without <see cref="Socket.ConnectAsync(EndPoint)"/>: where that is refused at once, as on the same machine,
/// it writes a whole stack trace down, with source lines from symbol files. That is a millisecond each time, and thirty
/// the first time: just when a node has died and everybody tries to reach it.
/// </summary>
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
