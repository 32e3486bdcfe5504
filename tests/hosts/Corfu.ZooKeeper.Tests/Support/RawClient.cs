using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>A client that sends bytes of its choice, and reads when it likes.</summary>
internal sealed class RawClient : IAsyncDisposable
{
    private readonly TcpClient _socket = new();

    public Stream Stream { get; private set; } = Stream.Null;

    /// <summary>Connects, without a session.</summary>
    public static async Task<RawClient> ConnectAsync(IPEndPoint server)
    {
        var client = new RawClient();
        await client._socket.ConnectAsync(server);
        client.Stream = client._socket.GetStream();
        return client;
    }

    /// <summary>Whether a connection ends without a byte.</summary>
    public static async Task<bool> IsClosedAsync(IPEndPoint server)
    {
        try
        {
            await using var client = await ConnectAsync(server);
            return await client.ReadFrameAsync() is null;
        }
        catch (SocketException)
        {
            // Reset before the connection stood for this side.
            return true;
        }
    }

    /// <summary>Connects, and begins a session.</summary>
    public static async Task<RawClient> BeginAsync(IPEndPoint server)
    {
        var client = await ConnectAsync(server);
        Assert.True(await client.TryBeginAsync());
        return client;
    }

    /// <summary>Encrypts what follows. A server that refuses the certificate may say so later only.</summary>
    public async Task EncryptAsync(SslClientAuthenticationOptions options)
    {
        var encrypted = new SslStream(Stream);
        await encrypted.AuthenticateAsClientAsync(options);
        Stream = encrypted;
    }

    /// <summary>Begins a session.</summary>
    /// <returns>False: the server has closed the connection.</returns>
    public async Task<bool> TryBeginAsync()
    {
        using var writer = new JuteWriter();
        new ConnectRequest(0, 10_000, 0, [.. new byte[ConnectResponse.PasswordSize]], ReadOnly: false).Write(writer);
        try
        {
            await Stream.WriteAsync(writer.WrittenMemory);
        }
        catch (IOException)
        {
            return false;
        }

        return await ReadFrameAsync() is not null;
    }

    /// <summary>The error of a reply.</summary>
    public static ErrorCode ErrorIn(byte[]? frame) =>
        (ErrorCode)BinaryPrimitives.ReadInt32BigEndian(frame.AsSpan(sizeof(int) + sizeof(long)));

    /// <summary>A request as it is sent.</summary>
    public static byte[] FrameOf(int xid, ClientRequest request)
    {
        using var writer = new JuteWriter();
        RequestWriter.Write(writer, xid, request);
        return writer.Written.ToArray();
    }

    /// <returns>Null: the server has closed the connection.</returns>
    public async Task<byte[]?> ReadFrameAsync()
    {
        try
        {
            var head = new byte[sizeof(int)];
            await Stream.ReadExactlyAsync(head);
            var frame = new byte[BinaryPrimitives.ReadInt32BigEndian(head)];
            await Stream.ReadExactlyAsync(frame);
            return frame;
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>Reads until the server closes the connection.</summary>
    public async Task DrainAsync()
    {
        while (await ReadFrameAsync() is not null)
        {
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Stream.DisposeAsync();
        _socket.Dispose();
    }
}
