using System.Net;
using System.Net.Sockets;
using Corfu.Server;
using Microsoft.Extensions.Logging.Abstractions;

namespace Salus.Nbd.Tests;

/// <summary>The server over sockets.</summary>
public sealed class NbdServerTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    private Task<NbdServer> StartAsync(NbdServerOptions? options = null, int port = 0) =>
        NbdServer.StartAsync(new IPEndPoint(IPAddress.Loopback, port),
            [new NbdExport("vol", NbdWorld.SourceOf(_volume))], NullLoggerFactory.Instance, options);

    // A client in its transmission, with simple replies.
    private static async Task<Socket> AttachAsync(NbdServer server)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(server.EndPoint);
        await ReadAsync(socket, 18);
        await socket.SendAsync((byte[])[0, 0, 0, 3, .. Bytes.Option(7, Bytes.Info("vol"))]);
        await ReadAsync(socket, 20 + 12 + 20);
        return socket;
    }

    private static async Task<byte[]> ReadAsync(Socket socket, int count)
    {
        var bytes = new byte[count];
        for (var got = 0; got < count;)
        {
            var read = await socket.ReceiveAsync(bytes.AsMemory(got)).AsTask().WaitAsync(TimeSpan.FromSeconds(20));
            if (read == 0) return bytes[..got];
            got += read;
        }

        return bytes;
    }

    [Fact]
    public async Task Server_serves_and_closes_the_volume_when_disposed()
    {
        var server = await StartAsync();
        using var client = await AttachAsync(server);
        await client.SendAsync((byte[])[.. Bytes.Command(CommandCode.Write, 100, 5), 1, 2, 3, 4, 5]);
        Assert.Equal(new byte[4], (await ReadAsync(client, 16))[4..8]);
        await server.DisposeAsync();
        await server.DisposeAsync();
        Assert.Empty(await ReadAsync(client, 1));
        using var late = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await Assert.ThrowsAsync<SocketException>(() => late.ConnectAsync(server.EndPoint));
    }

    [Fact]
    public async Task Command_that_never_ends_does_not_hold_up_the_end_of_the_server()
    {
        var never = new TaskCompletionSource();
        var volume = new NeverVolume(never.Task);
        var server = await NbdServer.StartAsync(new IPEndPoint(IPAddress.Loopback, 0),
            [new NbdExport("vol", new MemorySource(1 << 20, 4096, false, _ => Task.FromResult<IVolume>(volume)))],
            NullLoggerFactory.Instance, new NbdServerOptions { StopTimeout = TimeSpan.FromMilliseconds(50) });
        using var client = await AttachAsync(server);
        await client.SendAsync(Bytes.Command(CommandCode.Flush, 0, 0));
        await volume.Called.Task;
        await server.DisposeAsync();
        Assert.True(volume.IsDisposed);
    }

    [Fact]
    public async Task Connections_beyond_the_limit_are_closed()
    {
        await using var server = await StartAsync(new NbdServerOptions { MaxConnections = 1 });
        using var client = await AttachAsync(server);
        using var more = new Socket(SocketType.Stream, ProtocolType.Tcp);
        try
        {
            await more.ConnectAsync(server.EndPoint);
            Assert.Empty(await ReadAsync(more, 1));
        }
        catch (SocketException)
        {
            // Closed with a reset.
        }

        await client.SendAsync(Bytes.Command(CommandCode.Read, 0, 512));
        Assert.Equal(16 + 512, (await ReadAsync(client, 16 + 512)).Length);
    }

    [Fact]
    public async Task Occupied_port_is_told()
    {
        await using var server = await StartAsync();
        await Assert.ThrowsAsync<ListenException>(() => StartAsync(port: server.EndPoint.Port));
    }

    [Fact]
    public async Task Option_out_of_range_is_told() =>
        await Assert.ThrowsAsync<ArgumentException>(() => StartAsync(new NbdServerOptions { MaxConnections = 0 }));

    [Fact]
    public async Task Snapshot_is_served_while_the_server_runs()
    {
        await using var server = await StartAsync();
        server.Add(new NbdExport("vol@a", NbdWorld.SourceOf(new MemoryVolume(1 << 20) { IsReadOnly = true })));
        Assert.True(await server.RemoveAsync("vol@a"));
        Assert.False(await server.RemoveAsync("vol@a"));
    }

    /// <summary>A volume whose flush ends with the volume alone.</summary>
    private sealed class NeverVolume(Task never) : IVolume
    {
        private readonly TaskCompletionSource _end = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Called { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public bool IsDisposed => _end.Task.IsCompleted;

        public long Size => 1 << 20;

        public int BlockSize => 4096;

        public bool IsReadOnly => false;

        public ValueTask ReadAsync(
            long firstBlock, Memory<byte> into, BlockExtents? extents, CancellationToken cancellationToken) =>
            new(never);

        public ValueTask WriteAsync(long firstBlock, ReadOnlyMemory<byte> data, bool durable) => new(never);

        public ValueTask ClearAsync(long firstBlock, long blocks, bool durable) => new(never);

        public ValueTask FlushAsync()
        {
            Called.TrySetResult();
            return new ValueTask(_end.Task);
        }

        public ValueTask DescribeAsync(long firstBlock, long blocks, int mostExtents, BlockExtents extents,
            CancellationToken cancellationToken) => new(never);

        public ValueTask DisposeAsync()
        {
            _end.TrySetException(new VolumeException(VolumeFault.LeaseLost, "The volume is closed."));
            return ValueTask.CompletedTask;
        }
    }
}
