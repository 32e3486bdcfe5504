using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;

namespace Corfu.Grpc.Client;

/// <summary>Connects to front ends with the certificates of a cluster.</summary>
public static class FrontEndHandler
{
    /// <summary>A handler for channels of generated clients:
    /// <c>GrpcChannel.ForAddress("https://...", new() { HttpHandler = FrontEndHandler.Create(tls) })</c>. It shows the
    /// caller's certificate, also after a renewal, and takes no server but a node of the cluster. Host names are not
    /// compared: a node is trusted as a node, wherever it runs.</summary>
    /// <param name="tls">Stays the caller's, and outlives the handler.</param>
    public static SocketsHttpHandler Create(ClusterTls tls)
    {
        ArgumentNullException.ThrowIfNull(tls);
        return new SocketsHttpHandler
        {
            EnableMultipleHttp2Connections = true,
            // A stream that is encrypted already is used as it is.
            ConnectCallback = (context, cancellationToken) =>
                ConnectAsync(tls, context.DnsEndPoint, cancellationToken),
        };
    }

    private static async ValueTask<Stream> ConnectAsync(
        ClusterTls tls, DnsEndPoint server, CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(server, cancellationToken);
            return await ShakeHandsAsync(
                tls, server.Host, new NetworkStream(socket, ownsSocket: true), cancellationToken);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private static async Task<Stream> ShakeHandsAsync(
        ClusterTls tls, string host, Stream plain, CancellationToken cancellationToken)
    {
        var encrypted = new SslStream(plain);
        var refusal = "";
        try
        {
            var options = tls.HttpClient(host, verdict => refusal = verdict.Reason ?? "");
            options.ApplicationProtocols = [SslApplicationProtocol.Http2];
            await encrypted.AuthenticateAsClientAsync(options, cancellationToken);
            return encrypted;
        }
        catch (AuthenticationException e)
        {
            await encrypted.DisposeAsync();
            throw refusal.Length == 0
                ? e
                : new AuthenticationException($"The front end at {host} is not trusted: {refusal}.", e);
        }
        catch
        {
            await encrypted.DisposeAsync();
            throw;
        }
    }
}
