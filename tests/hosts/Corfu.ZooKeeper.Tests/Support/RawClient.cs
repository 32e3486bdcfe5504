using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>A client that sends bytes of its choice, and reads when it likes.</summary>
internal sealed class RawClient : IAsyncDisposable
{
    private readonly TcpClient _socket = new();

    public NetworkStream Stream => _socket.GetStream();

    /// <summary>Connects, without a session.</summary>
    public static async Task<RawClient> ConnectAsync(IPEndPoint server)
    {
        var client = new RawClient();
        await client._socket.ConnectAsync(server);
        return client;
    }

    /// <summary>Connects, and begins a session.</summary>
    public static async Task<RawClient> BeginAsync(IPEndPoint server)
    {
        var client = await ConnectAsync(server);
        using var writer = new JuteWriter();
        new ConnectRequest(0, 10_000, 0, [.. new byte[ConnectResponse.PasswordSize]], ReadOnly: false).Write(writer);
        await client.Stream.WriteAsync(writer.WrittenMemory);
        Assert.NotNull(await client.ReadFrameAsync());
        return client;
    }

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

    public ValueTask DisposeAsync()
    {
        _socket.Dispose();
        return ValueTask.CompletedTask;
    }
}
