using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Permissions;

/// <summary>A connection to one role that trusts any server: what it may do, the server alone decides.</summary>
internal sealed class RawPeer : IAsyncDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(20);

    private readonly SslStream _stream;
    private uint _correlation;

    private RawPeer(SslStream stream) => _stream = stream;

    /// <summary>Null: the server ended the connection in its handshake.</summary>
    public Welcome? Welcome { get; private set; }

    /// <param name="credentials">Null: it has no certificate.</param>
    public static async Task<RawPeer> ConnectAsync(
        NodeAddress to, ClusterId cluster, TlsCredentials? credentials, CancellationToken stop)
    {
        var client = new TcpClient();
        await client.ConnectAsync(to.Endpoint.Host, to.Endpoint.Port, stop);
        var peer = new RawPeer(new SslStream(client.GetStream(), leaveInnerStreamOpen: false));
        try
        {
            await peer._stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
            {
                TargetHost = to.Endpoint.Host,
                ApplicationProtocols = [ClusterTls.Protocol],
                EnabledSslProtocols = SslProtocols.Tls13,
                ClientCertificateContext = credentials?.Context,
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
            }, stop);
            var hello = new byte[Hello.Size];
            new Hello(WireProtocol.Baseline, WireProtocol.Current.Highest, cluster, to.Id).Write(hello);
            await peer._stream.WriteAsync(hello, stop);
            var header = new byte[Welcome.HeaderSize];
            await peer._stream.ReadExactlyAsync(header, stop);
            var body = new byte[Transport.Welcome.BodyLength(header)];
            await peer._stream.ReadExactlyAsync(body, stop);
            peer.Welcome = Transport.Welcome.Decode(header, body);
        }
        catch (Exception e) when (IsEnd(e))
        {
            // Refused by TLS itself.
        }

        return peer;
    }

    /// <summary>Sends a request whether the server takes any or not.</summary>
    /// <returns>Null: the connection ended without an answer.</returns>
    public async Task<Response?> AskAsync(Request request, CancellationToken stop)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(s_patience);
        try
        {
            var frame = new FrameBuffer();
            var version = Welcome?.Version ?? WireProtocol.Baseline;
            MessageCodec.WriteRequest(frame, ++_correlation, request, version);
            await _stream.WriteAsync(frame.WrittenMemory, limit.Token);
            var bytes = new byte[MessageCodec.HeaderSize];
            await _stream.ReadExactlyAsync(bytes, limit.Token);
            var header = FrameHeader.Parse(bytes);
            var body = new byte[header.BodyLength];
            await _stream.ReadExactlyAsync(body, limit.Token);
            return MessageCodec.ReadResponse(request, header, body, version);
        }
        catch (Exception e) when (IsEnd(e))
        {
            return null;
        }
    }

    public ValueTask DisposeAsync() => _stream.DisposeAsync();

    private static bool IsEnd(Exception e) =>
        e is IOException or AuthenticationException or SocketException or InvalidOperationException;
}
