using System.Net;
using System.Net.Sockets;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Floods;

/// <summary>Peers that mean no good, of loopback addresses other than the cluster's.</summary>
internal sealed class FloodPeers(ClusterFolder folder)
{
    private const int LargeFrame = 1 << 20;

    private readonly NodeEndpoint[] _processes =
        [.. folder.Manifest.Nodes.Select(node => node.Endpoint).Distinct()];

    private long _opened;
    private long _served;
    private int _next;

    /// <summary>Connections made, and those of them whose handshake was answered with Ok.</summary>
    public (long Opened, long Served) Counts => (Volatile.Read(ref _opened), Volatile.Read(ref _served));

    /// <summary>Sends a byte a second in each phase: silence, the handshake, a frame's header, a large frame's body. A
    /// connection that is ended is made again.</summary>
    public Task SlowAsync(int connections, CancellationToken stop) =>
        Task.WhenAll(Enumerable.Range(0, connections).Select(i => SlowAsync((Phase)(i % 4), stop)));

    /// <summary>As many connections as are let in, held open, and new handshakes at a rate.</summary>
    public async Task ManyAsync(int connections, int handshakesPerSecond, CancellationToken stop)
    {
        var held = Enumerable.Range(0, connections).Select(_ => HoldAsync(stop)).ToList();
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(20));
        List<Task> handshakes = [];
        try
        {
            while (await timer.WaitForNextTickAsync(stop))
            {
                handshakes.RemoveAll(handshake => handshake.IsCompleted);
                for (var i = 0; i < handshakesPerSecond / 50; i++) handshakes.Add(HandshakeAsync(stop));
            }
        }
        catch (OperationCanceledException)
        {
            // The flood is over.
        }

        await Task.WhenAll(held.Concat(handshakes));
    }

    private enum Phase
    {
        Silence,
        Handshake,
        Header,
        Body,
    }

    private async Task SlowAsync(Phase phase, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            await TryAsync(async socket =>
            {
                if (phase >= Phase.Header) await ShakeHandsAsync(socket, stop);
                byte[] bytes = phase switch
                {
                    Phase.Silence => [],
                    Phase.Handshake => Hello(default),
                    _ => LargeWrite(),
                };
                var sent = phase == Phase.Body ? MessageCodec.HeaderSize + 1000 : 0;
                await socket.SendAsync(bytes.AsMemory(0, sent), stop);
                var ended = socket.ReceiveAsync(new byte[1], stop).AsTask();
                while (!ended.IsCompleted)
                {
                    if (sent < bytes.Length) await socket.SendAsync(bytes.AsMemory(sent++, 1), stop);
                    await Task.WhenAny(ended, Task.Delay(TimeSpan.FromSeconds(1), stop));
                }
            }, stop);
        }
    }

    private async Task HoldAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            await TryAsync(async socket =>
            {
                await ShakeHandsAsync(socket, stop);
                await socket.ReceiveAsync(new byte[1], stop);
            }, stop);
            await Task.WhenAny(Task.Delay(TimeSpan.FromSeconds(1), stop));
        }
    }

    private Task HandshakeAsync(CancellationToken stop) => TryAsync(socket => ShakeHandsAsync(socket, stop), stop);

    private async Task TryAsync(Func<Socket, Task> use, CancellationToken stop)
    {
        var number = Interlocked.Increment(ref _next);
        var process = _processes[number % _processes.Length];
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(new IPEndPoint(new IPAddress([127, 0, 1, (byte)(number % 250 + 2)]), 0));
            await socket.ConnectAsync(process.Host, process.Port, stop);
            Interlocked.Increment(ref _opened);
            await use(socket);
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or MalformedDataException)
        {
            // Refused, cut off, or over.
        }
    }

    // An identity of a role, learnt from the first answer, so that the connection is bound to it.
    private async Task ShakeHandsAsync(Socket socket, CancellationToken stop)
    {
        await socket.SendAsync(Hello(TargetOf(socket)), stop);
        var header = new byte[Welcome.HeaderSize];
        await FillAsync(socket, header, stop);
        var body = new byte[Welcome.BodyLength(header)];
        await FillAsync(socket, body, stop);
        var welcome = Welcome.Decode(header, body);
        if (welcome.Status != Status.Ok) throw new MalformedDataException(welcome.Status.ToString());
        Interlocked.Increment(ref _served);
    }

    private NodeId TargetOf(Socket socket)
    {
        var port = ((IPEndPoint)socket.RemoteEndPoint!).Port;
        var node = folder.Manifest.Nodes.First(n => n.Endpoint.Port == port);
        return new NodeId(node.Roles.FirstOrDefault(role => role.Id != Guid.Empty)?.Id ?? Guid.Empty);
    }

    private static async Task FillAsync(Socket socket, Memory<byte> memory, CancellationToken stop)
    {
        while (!memory.IsEmpty)
        {
            var received = await socket.ReceiveAsync(memory, stop);
            if (received == 0) throw new MalformedDataException("ended");
            memory = memory[received..];
        }
    }

    private byte[] Hello(NodeId target)
    {
        var bytes = new byte[Corfu.Transport.Hello.Size];
        new Hello(WireProtocol.Current.Lowest, WireProtocol.Current.Highest,
            new ClusterId(folder.Manifest.Cluster), target).Write(bytes);
        return bytes;
    }

    private static byte[] LargeWrite()
    {
        var buffer = new FrameBuffer();
        MessageCodec.WriteRequest(buffer, 1, new WriteRequest(Epoch.First, new byte[LargeFrame]));
        return buffer.WrittenSpan.ToArray();
    }
}
