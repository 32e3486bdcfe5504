using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Craq.Hosting.Tests.Memcached;

/// <summary>A client's connection to a memcached port.</summary>
internal sealed class BinaryConnection : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly TcpClient _client = new();
    private NetworkStream _stream = null!;

    public static async Task<BinaryConnection> OpenAsync(int port)
    {
        var connection = new BinaryConnection();
        await connection._client.ConnectAsync(IPAddress.Loopback, port);
        connection._stream = connection._client.GetStream();
        return connection;
    }

    public void Dispose() => _client.Dispose();

    public async Task SendAsync(params byte[][] frames)
    {
        using var patience = new CancellationTokenSource(s_patience);
        await _stream.WriteAsync(frames.SelectMany(frame => frame).ToArray(), patience.Token);
    }

    public async Task<BinaryAnswer> ReceiveAsync()
    {
        var header = await ReadAsync(24);
        Assert.Equal((0x81, 0), (header[0], header[5]));
        var body = await ReadAsync(BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(8)));
        var (extras, key) = (header[4], BinaryPrimitives.ReadUInt16BigEndian(header.AsSpan(2)));
        return new BinaryAnswer(header[1], BinaryPrimitives.ReadUInt16BigEndian(header.AsSpan(6)),
            BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(12)),
            BinaryPrimitives.ReadInt64BigEndian(header.AsSpan(16)), body[..extras],
            Encoding.Latin1.GetString(body, extras, key), body[(extras + key)..]);
    }

    public async Task<BinaryAnswer> CallAsync(byte[] frame)
    {
        await SendAsync(frame);
        var answer = await ReceiveAsync();
        Assert.Equal((frame[1], BinaryFrame.Opaque), (answer.Opcode, answer.Opaque));
        return answer;
    }

    /// <summary>The frame has no answer: that of the noop behind it comes first.</summary>
    public async Task QuietAsync(byte[] frame)
    {
        await SendAsync(frame, BinaryFrame.Of(0x0a, opaque: 7));
        var answer = await ReceiveAsync();
        Assert.Equal((0x0a, 7U, 0), (answer.Opcode, answer.Opaque, answer.Status));
    }

    /// <summary>The server closes the connection without a further byte.</summary>
    public async Task EndsAsync()
    {
        using var patience = new CancellationTokenSource(s_patience);
        Assert.Equal(0, await _stream.ReadAsync(new byte[1], patience.Token));
    }

    /// <summary>All bytes until the server closes.</summary>
    public async Task<int> DrainAsync()
    {
        using var patience = new CancellationTokenSource(s_patience);
        _client.Client.Shutdown(SocketShutdown.Send);
        var buffer = new byte[64 << 10];
        var count = 0;
        while (await _stream.ReadAsync(buffer, patience.Token) is > 0 and var read) count += read;
        return count;
    }

    public async Task<string> LineAsync()
    {
        var line = new StringBuilder();
        while (!line.ToString().EndsWith("\r\n", StringComparison.Ordinal))
            line.Append((char)(await ReadAsync(1))[0]);
        return line.ToString().TrimEnd();
    }

    private async Task<byte[]> ReadAsync(int length)
    {
        using var patience = new CancellationTokenSource(s_patience);
        var bytes = new byte[length];
        await _stream.ReadExactlyAsync(bytes, patience.Token);
        return bytes;
    }
}

internal sealed record BinaryAnswer(
    byte Opcode, int Status, uint Opaque, long Version, byte[] Extras, string Key, byte[] Value)
{
    public string Text => Encoding.Latin1.GetString(Value);

    public ulong Sum => BinaryPrimitives.ReadUInt64BigEndian(Value);

    public uint Flags => BinaryPrimitives.ReadUInt32BigEndian(Extras);

    public bool IsEmpty => Extras.Length + Key.Length + Value.Length == 0;
}
