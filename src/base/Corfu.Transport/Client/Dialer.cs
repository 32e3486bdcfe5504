using System.Diagnostics;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;

namespace Corfu.Transport;

/// <summary>Opens sockets and shakes hands: TLS first where this process has certificates, then the
/// protocol.</summary>
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
        var attempt = new Attempt(endpoint, target, timeout.Token, either.Token);
        var dialed = await DialAsync(attempt, options.Tls).ConfigureAwait(false);
        if (dialed.Failure is { IsNoTls: true } && options is { NeverPlain: false, Tls.Mode: TlsMode.Both })
            dialed = await DialAsync(attempt, null).ConfigureAwait(false);
        if (dialed.IsOpen) return dialed;
        TransportTelemetry.ConnectFailures.Add(1);
        cancellationToken.ThrowIfCancellationRequested();
        return dialed;
    }

    private async Task<Dialed> DialAsync(Attempt attempt, ClusterTls? tls)
    {
        var (endpoint, target, timeout, either) = attempt;
        Socket? socket = null;
        SslStream? encrypted = null;
        ConnectFailure? failure;
        var isConnected = false;
        try
        {
            // Fails where the process has no descriptors left.
            socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            if (options.LocalAddress is { } local) socket.Bind(new IPEndPoint(local.MapToIPv6(), 0));
            var error = await SocketConnect.ConnectAsync(socket, endpoint.Host, endpoint.Port, either)
                .ConfigureAwait(false);
            isConnected = error == SocketError.Success;
            TlsLink? link = null;
            failure = isConnected
                ? null
                : FailureOf(endpoint, new SocketException((int)error), timeout.IsCancellationRequested);
            if (failure is null && tls is not null)
            {
                encrypted = new SslStream(new NetworkStream(socket));
                (link, failure) = await EncryptAsync(encrypted, endpoint, tls, either).ConfigureAwait(false);
            }

            if (failure is null)
            {
                var stream = new PeerStream(socket, encrypted);
                var welcome = await ShakeHandsAsync(stream, target, either).ConfigureAwait(false);
                failure = Check(endpoint, target, welcome);
                if (failure is null) return new Dialed(stream, welcome, null) { Tls = link };
            }
        }
        catch (Exception e)
        {
            failure = FailureOf(endpoint, e, timeout.IsCancellationRequested);
            if (isConnected && failure.Fault == TransportFault.Lost)
                failure = failure with { Message = failure.Message + "." + TlsHint };
        }

        socket?.Dispose();
        if (encrypted is not null) await encrypted.DisposeAsync().ConfigureAwait(false);
        return new Dialed(default, null, failure);
    }

    private async Task<(TlsLink? Link, ConnectFailure? Failure)> EncryptAsync(SslStream stream, NodeEndpoint endpoint,
        ClusterTls tls, CancellationToken cancellationToken)
    {
        var begun = time.GetTimestamp();
        PeerVerdict verdict = default;
        var credentials = tls.Source.Current;
        try
        {
            await stream.AuthenticateAsClientAsync(tls.Client(endpoint.Host, credentials, v => verdict = v),
                cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (e is AuthenticationException or IOException)
        {
            if (verdict.Reason is { } reason)
                return (null, new ConnectFailure($"{endpoint}: not trusted: {reason}.", TransportFault.Unknown, e));
            var fault = e.InnerException is SocketException inner ? FaultOf(inner) : TransportFault.Unknown;
            var why = $"{endpoint}: no TLS handshake: {e.Message} {e.InnerException?.Message} A node without TLS "
                + "answers so: give it certificates.";
            return (null, new ConnectFailure(why, fault, e) { IsNoTls = true });
        }

        TransportTelemetry.Handshakes.Record(time.GetElapsedTime(begun).TotalSeconds);
        return verdict.Peer is { } peer
            ? (new TlsLink(credentials, peer), null)
            : (null, new ConnectFailure($"{endpoint}: not trusted: it sent no certificate.", TransportFault.Unknown));
    }

    private async Task<Welcome> ShakeHandsAsync(PeerStream stream, NodeId target, CancellationToken cancellationToken)
    {
        var hello = new byte[Hello.Size];
        new Hello(options.Protocol.Lowest, options.Protocol.Highest, options.Cluster, target)
        {
            Role = options.Role == AccessRole.Node ? AccessRole.None : options.Role,
        }.Write(hello);
        for (var rest = hello.AsMemory(); !rest.IsEmpty;)
            rest = rest[await stream.SendAsync(rest, cancellationToken).ConfigureAwait(false)..];
        var header = new byte[Welcome.HeaderSize];
        await FillAsync(stream, header, cancellationToken).ConfigureAwait(false);
        var body = new byte[Welcome.BodyLength(header)];
        await FillAsync(stream, body, cancellationToken).ConfigureAwait(false);
        return Welcome.Decode(header, body);
    }

    /// <summary>A node that requires TLS ends a plain connection without a word.</summary>
    private string TlsHint => options.Tls is null
        ? " If the node requires TLS, use corfus:// (CRAQ: craqs://) and certificates."
        : "";

    private async Task FillAsync(PeerStream stream, Memory<byte> memory, CancellationToken cancellationToken)
    {
        while (!memory.IsEmpty)
        {
            var received = await stream.ReceiveAsync(memory, cancellationToken).ConfigureAwait(false);
            if (received == 0)
                throw new MalformedDataException("The connection ended inside the handshake." + TlsHint);
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
            Status.Overloaded => "it has no place for another connection (limits.server in its node.json)",
            Status.Denied => $"it refuses this process: {welcome.Reason}",
            var other => $"it refuses: {other}",
        };
        if (reason is null) return null;
        var fault = welcome.Status switch
        {
            Status.WrongNode => TransportFault.WrongIdentity,
            Status.Overloaded => TransportFault.Overloaded,
            _ => TransportFault.Unknown,
        };
        return new ConnectFailure($"{endpoint}: {reason}.", fault);
    }

    private static ConnectFailure FailureOf(NodeEndpoint endpoint, Exception e, bool tooLate) => e switch
    {
        OperationCanceledException or SocketException { SocketErrorCode: SocketError.OperationAborted } when tooLate =>
            new ConnectFailure($"{endpoint}: no connection in time.", TransportFault.TimedOut),
        SocketException socketError => new ConnectFailure($"{endpoint}: {e.Message}", FaultOf(socketError), e),
        MalformedDataException => new ConnectFailure($"{endpoint}: {e.Message}", TransportFault.Unknown, e),
        IOException { InnerException: SocketException inner } =>
            new ConnectFailure($"{endpoint}: {inner.Message}", FaultOf(inner), e),
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

    private readonly record struct Attempt(NodeEndpoint Endpoint, NodeId Target, CancellationToken Timeout,
        CancellationToken Either);
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
