using System.Net;
using System.Net.Sockets;

namespace Corfu.Transport;

/// <summary>
/// Connects without <see cref="Socket.ConnectAsync(EndPoint)"/>: where that is refused at once, as on the same machine, it writes a whole stack trace down, with
/// source lines from symbol files. That is a millisecond each time, and thirty the first time: just when a node has died and everybody tries to reach it.
/// </summary>
internal static class SocketConnect
{
    /// <exception cref="SocketException">Refused, not reached, or no such host.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled first.</exception>
    public static async ValueTask ConnectAsync(Socket socket, string host, int port, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        using var attempt = new SocketAsyncEventArgs();
        attempt.RemoteEndPoint = IPAddress.TryParse(host, out var address) ? new IPEndPoint(address, port) : new DnsEndPoint(host, port);
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        attempt.Completed += (_, _) => ended.SetResult();
        if (socket.ConnectAsync(attempt))
        {
            await using var cancelled = cancellationToken.UnsafeRegister(static state => Socket.CancelConnectAsync((SocketAsyncEventArgs)state!), attempt);
            await ended.Task.ConfigureAwait(false);
        }

        if (attempt.SocketError == SocketError.Success) return;
        cancellationToken.ThrowIfCancellationRequested();
        throw new SocketException((int)attempt.SocketError);
    }
}
