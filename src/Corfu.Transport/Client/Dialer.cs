using System.Diagnostics;
using System.Net.Sockets;
using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>Opens sockets and shakes hands.</summary>
internal sealed class Dialer(TcpTransportOptions options, TimeProvider time)
{
    /// <summary>Target none asks for a description. All failures are <see cref="TransportException"/> with nothing sent.</summary>
    public async Task<(Socket Socket, Welcome Welcome)> DialAsync(NodeEndpoint endpoint, NodeId target, CancellationToken cancellationToken)
    {
        using var activity = TransportMeter.Activities.StartActivity("connect", ActivityKind.Client);
        using var timeout = new CancellationTokenSource(options.ConnectTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await SocketConnect.ConnectAsync(socket, endpoint.Host, endpoint.Port, either.Token).ConfigureAwait(false);
            var welcome = await ShakeHandsAsync(socket, target, either.Token).ConfigureAwait(false);
            Check(endpoint, target, welcome);
            return (socket, welcome);
        }
        catch (Exception e)
        {
            socket.Dispose();
            TransportMeter.ClientConnectFailures.Add(1);
            cancellationToken.ThrowIfCancellationRequested();
            throw e switch
            {
                TransportException => e,
                OperationCanceledException =>
                    new TransportException($"{endpoint}: no connection in time.", outcomeUnknown: false) { Fault = TransportFault.TimedOut },
                SocketException socketError => new TransportException($"{endpoint}: {e.Message}", outcomeUnknown: false, e) { Fault = FaultOf(socketError) },
                MalformedDataException => new TransportException($"{endpoint}: {e.Message}", outcomeUnknown: false, e),
                _ => new TransportException($"{endpoint}: cannot connect: {e.Message}", outcomeUnknown: false, e),
            };
        }
    }

    private async Task<Welcome> ShakeHandsAsync(Socket socket, NodeId target, CancellationToken cancellationToken)
    {
        var hello = new byte[Hello.Size];
        new Hello(ProtocolVersions.Lowest, ProtocolVersions.Highest, options.Cluster, target).Write(hello);
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

    private void Check(NodeEndpoint endpoint, NodeId target, Welcome welcome)
    {
        var there = welcome.Description;
        var reason = welcome.Status switch
        {
            Status.Ok when welcome.Version is < ProtocolVersions.Lowest or > ProtocolVersions.Highest => $"it speaks protocol version {welcome.Version}",
            Status.Ok when !options.Cluster.IsNone && there.Cluster != options.Cluster => $"it belongs to cluster {there.Cluster}, not {options.Cluster}",
            Status.Ok => null,
            Status.WrongNode when !options.Cluster.IsNone && there.Cluster != options.Cluster => $"it belongs to cluster {there.Cluster}, not {options.Cluster}",
            Status.WrongNode => $"the identity {target} is not there",
            Status.Unsupported => "it speaks other protocol versions",
            var other => $"it refuses: {other}",
        };
        if (reason is null) return;
        throw new TransportException($"{endpoint}: {reason}.", outcomeUnknown: false)
        {
            Fault = welcome.Status == Status.WrongNode ? TransportFault.WrongIdentity : TransportFault.Unknown,
        };
    }

    private static TransportFault FaultOf(SocketException e) => e.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => TransportFault.Refused,
        SocketError.TimedOut or SocketError.HostUnreachable or SocketError.NetworkUnreachable or SocketError.HostDown => TransportFault.TimedOut,
        SocketError.ConnectionReset or SocketError.ConnectionAborted => TransportFault.Lost,
        _ => TransportFault.Unknown,
    };
}
