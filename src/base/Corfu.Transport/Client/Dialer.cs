using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Corfu.Transport;

/// <summary>Opens sockets and shakes hands.</summary>
internal sealed class Dialer(TcpTransportOptions options, TimeProvider time)
{
    /// <summary>Target none asks for a description. Nothing has been sent where it fails.</summary>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task<Dialed> DialAsync(NodeEndpoint endpoint, NodeId target, CancellationToken cancellationToken)
    {
        using var activity = TransportTelemetry.Activities.StartActivity("corfu.transport.connect",
            ActivityKind.Client);
        using var timeout = new CancellationTokenSource(options.ConnectTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        Socket? socket = null;
        ConnectFailure? failure;
        try
        {
            // Fails where the process has no descriptors left.
            socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            var error = await SocketConnect.ConnectAsync(socket, endpoint.Host, endpoint.Port, either.Token)
                .ConfigureAwait(false);
            if (error == SocketError.Success)
            {
                var welcome = await ShakeHandsAsync(socket, target, either.Token).ConfigureAwait(false);
                failure = Check(endpoint, target, welcome);
                if (failure is null) return new Dialed(socket, welcome, null);
            }
            else
            {
                failure = FailureOf(endpoint, new SocketException((int)error), timeout.IsCancellationRequested);
            }
        }
        catch (Exception e)
        {
            failure = FailureOf(endpoint, e, timeout.IsCancellationRequested);
        }

        socket?.Dispose();
        TransportTelemetry.ConnectFailures.Add(1);
        cancellationToken.ThrowIfCancellationRequested();
        return new Dialed(null, null, failure);
    }

    private async Task<Welcome> ShakeHandsAsync(Socket socket, NodeId target, CancellationToken cancellationToken)
    {
        var hello = new byte[Hello.Size];
        new Hello(options.Protocol.Lowest, options.Protocol.Highest, options.Cluster, target)
        {
            Role = options.Role == AccessRole.Node ? AccessRole.None : options.Role,
        }.Write(hello);
        for (var rest = hello.AsMemory(); !rest.IsEmpty;)
            rest = rest[await socket.SendAsync(rest, SocketFlags.None, cancellationToken).ConfigureAwait(false)..];
        var header = new byte[Welcome.HeaderSize];
        await FillAsync(socket, header, cancellationToken).ConfigureAwait(false);
        var body = new byte[Welcome.BodyLength(header)];
        await FillAsync(socket, body, cancellationToken).ConfigureAwait(false);
        return Welcome.Decode(header, body);
    }

    private static async Task FillAsync(Socket socket, Memory<byte> memory, CancellationToken cancellationToken)
    {
        while (!memory.IsEmpty)
        {
            var received = await socket.ReceiveAsync(memory, SocketFlags.None, cancellationToken).ConfigureAwait(false);
            if (received == 0) throw new MalformedDataException("The connection ended inside the handshake.");
            memory = memory[received..];
        }
    }

    private ConnectFailure? Check(NodeEndpoint endpoint, NodeId target, Welcome welcome)
    {
        var there = welcome.Description;
        var reason = welcome.Status switch
        {
            Status.Ok when options.Protocol.Settle(welcome.Version, welcome.Version) is null =>
                $"it speaks protocol version {welcome.Version}",
            Status.Ok or Status.WrongNode when !options.Cluster.IsNone && there.Cluster != options.Cluster =>
                $"it belongs to cluster {there.Cluster}, not {options.Cluster}",
            Status.Ok => null,
            Status.WrongNode => $"the identity {target} is not there",
            Status.Unsupported => "it speaks other protocol versions",
            Status.Denied => $"it refuses this process: {welcome.Reason}",
            var other => $"it refuses: {other}",
        };
        if (reason is null) return null;
        var fault = welcome.Status == Status.WrongNode ? TransportFault.WrongIdentity : TransportFault.Unknown;
        return new ConnectFailure($"{endpoint}: {reason}.", fault);
    }

    private static ConnectFailure FailureOf(NodeEndpoint endpoint, Exception e, bool tooLate) => e switch
    {
        OperationCanceledException or SocketException { SocketErrorCode: SocketError.OperationAborted } when tooLate =>
            new ConnectFailure($"{endpoint}: no connection in time.", TransportFault.TimedOut),
        SocketException socketError => new ConnectFailure($"{endpoint}: {e.Message}", FaultOf(socketError), e),
        MalformedDataException => new ConnectFailure($"{endpoint}: {e.Message}", TransportFault.Unknown, e),
        _ => new ConnectFailure($"{endpoint}: cannot connect: {e.Message}", TransportFault.Unknown, e),
    };

    private static TransportFault FaultOf(SocketException e) => e.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => TransportFault.Refused,
        SocketError.TimedOut or SocketError.HostUnreachable or SocketError.NetworkUnreachable or SocketError.HostDown =>
            TransportFault.TimedOut,
        SocketError.ConnectionReset or SocketError.ConnectionAborted => TransportFault.Lost,
        _ => TransportFault.Unknown,
    };
}

/// <summary>Connects without <see cref="Socket.ConnectAsync(EndPoint)"/>, which takes a millisecond for a stack trace
/// when it is refused at once, and thirty the first time.</summary>
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
