using System.Buffers;
using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using Corfu.Hosting;
using Salus;
using Salus.Hosting;
using Salus.Protocol;
using CorfuSamples = Corfu.Protocol.Tests.SampleMessages;
using Samples = Salus.Protocol.Tests.SampleMessages;

namespace Corfu.Fuzz;

/// <summary>
/// Stores and region servers of running Salus nodes, and an NBD port, get damaged frames, while a good driver and a
/// good client of NBD write and read. Every write must succeed, every read must be right, and the process must not
/// grow. Seals are left out: every node may end a generation.
/// </summary>
public sealed class SalusPortFuzz(int seed, TextWriter output)
{
    private const int Blocks = 1024;
    private const long MemoryAllowance = 256L << 20;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly RequestTable s_table = new(SalusMessages.AddTo);

    private readonly IReadOnlyList<byte[]> _nbd =
    [
        Option(3, []), Option(7, Named("attacked")), Option(6, Named("attacked")), Option(8, []), Option(5, []),
        Option(10, [.. Text("attacked"), 0, 0, 0, 1, .. Text("base:allocation")]),
        Command(0, 0, 4096), [.. Command(1, 0, 4096), .. new byte[4096]], Command(3, 0, 0), Command(4, 0, 4096),
        Command(6, 0, 4096), Command(7, 0, 1 << 20),
    ];

    public async Task<bool> RunAsync(int frames)
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1, Automatic = false });
        await using var salus = await EmbeddedSalus.StartAsync(cluster.ConnectionString);
        await using var connection = await SalusConnection.OpenAsync(salus.Log);
        foreach (var name in new[] { "v", "attacked", "good" })
            await connection.Log.Admin.CreateAsync(name, VolumeGeometry.Create(64 << 20));
        await using var server = await VolumeServer.StartAsync(
            new VolumeServerOptions(salus.Log, ["attacked", "good"], new IPEndPoint(IPAddress.Loopback, 0)));
        await using var volume = await connection.MountAsync("v");
        var target = (await connection.Log.Map.Directory.FindAsync("v"))!.Id;
        var requests = Samples.All().Select(static sample => sample.Request)
            .Where(static request => request is not SealRegionRequest).Select(CorfuSamples.Frame).ToList();
        requests.AddRange([.. requests.Select(frame => Retarget(frame, target.Value))]);
        using var stop = new CancellationTokenSource();
        var working = WorkAsync(volume, stop.Token);
        var serving = WorkAsync(server.EndPoint, stop.Token);
        var before = GC.GetTotalMemory(true);
        var (sent, connections) = (0, 0);
        while (sent < frames && !working.IsCompleted && !serving.IsCompleted)
        {
            var random = FuzzRandom.For(seed, "salus ports", connections++);
            if (random.OneIn(3))
            {
                sent += await PortAttack.RunAsync(random, server.EndPoint, [0, 0, 0, 3], _nbd, static bytes => bytes);
                continue;
            }

            var nodes = (await connection.Log.Admin.NodesAsync()).Stores.Values.ToList();
            var node = nodes[random.Next(nodes.Count)];
            var address = random.OneIn(2) ? node.StoreAddress : node.RegionAddress;
            sent += await PortAttack.RunAsync(random, IPEndPoint.Parse(node.Endpoint.ToString()),
                Hello(connection.Log.Cluster, address.Id), requests, Repaired);
        }

        await stop.CancelAsync();
        var trouble = await working.WaitAsync(s_patience) ?? await serving.WaitAsync(s_patience);
        var grown = GC.GetTotalMemory(true) - before;
        if (trouble is null && grown > MemoryAllowance) trouble = $"the process has grown by {grown >> 20} MiB";
        await output.WriteLineAsync($"{"salus ports",-18} frames {sent,9} connections {connections} grown "
            + $"{grown >> 10} KiB{(trouble is null ? "" : " FINDING " + trouble)}");
        return trouble is null;
    }

    private static async Task<string?> WorkAsync(IVolume volume, CancellationToken stop)
    {
        await Task.Yield();
        var read = new byte[volume.BlockSize];
        for (var i = 0; !stop.IsCancellationRequested; i++)
        {
            try
            {
                await volume.WriteAsync(i % Blocks, Block(i, volume.BlockSize), durable: true);
                await volume.ReadAsync(i % Blocks, read, null, default);
            }
            catch (VolumeException e)
            {
                return $"the driver's write {i}: {e.Fault}: {e.Message}";
            }

            if (!read.AsSpan().SequenceEqual(Block(i, volume.BlockSize))) return $"write {i} reads otherwise";
        }

        return null;
    }

    // A client that keeps the protocol, on one connection: nothing that others send ends it.
    private static async Task<string?> WorkAsync(IPEndPoint server, CancellationToken stop)
    {
        await Task.Yield();
        try
        {
            using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await socket.ConnectAsync(server, default);
            await using var stream = new NetworkStream(socket);
            await stream.ReadExactlyAsync(new byte[18]);
            await stream.WriteAsync((byte[])[0, 0, 0, 3, .. Option(1, "good"u8.ToArray())]);
            await stream.ReadExactlyAsync(new byte[10]);
            var (reply, read) = (new byte[16], new byte[4096]);
            for (var i = 0; !stop.IsCancellationRequested; i++)
            {
                var offset = i % Blocks * 4096L;
                await stream.WriteAsync((byte[])[.. Command(1, offset, 4096), .. Block(i, 4096)]);
                await stream.ReadExactlyAsync(reply);
                await stream.WriteAsync(Command(0, offset, 4096));
                await stream.ReadExactlyAsync(reply);
                await stream.ReadExactlyAsync(read);
                if (BinaryPrimitives.ReadInt32BigEndian(reply.AsSpan(4)) != 0) return $"NBD read {i} has failed";
                if (!read.AsSpan().SequenceEqual(Block(i, 4096))) return $"NBD write {i} reads otherwise";
            }

            return null;
        }
        catch (IOException e)
        {
            return $"the good connection of NBD has ended: {e.Message}";
        }
    }

    private static byte[] Block(int number, int size)
    {
        var block = new byte[size];
        BinaryPrimitives.WriteInt32LittleEndian(block, number + 1);
        return block;
    }

    // A frame with its length; a damaged opcode that would make a seal is another one.
    private static byte[] Repaired(byte[] frame)
    {
        if (frame.Length < MessageCodec.HeaderSize) return frame;
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - MessageCodec.LengthSize);
        if ((Opcode)frame[16] == SalusOpcode.Seal || s_table.Judge((Opcode)frame[16], AccessRole.Node)
            != AccessVerdict.Allowed) frame[16] = (byte)SalusOpcode.Get;
        return frame;
    }

    // The same message about a volume that is there.
    private static byte[] Retarget(byte[] frame, Guid volume)
    {
        var copy = frame.ToArray();
        var named = Samples.Region.Volume.Value.ToByteArray();
        for (var at = copy.AsSpan().IndexOf(named); at >= 0; at = copy.AsSpan().IndexOf(named))
            volume.TryWriteBytes(copy.AsSpan(at));
        return copy;
    }

    // docs/protocol.md, Connections.
    private static byte[] Hello(ClusterId cluster, NodeId id)
    {
        var bytes = new byte[48];
        "CORFU\r\n\u001a"u8.CopyTo(bytes);
        (bytes[8], bytes[10]) = (1, (byte)WireProtocol.Version2);
        cluster.Value.TryWriteBytes(bytes.AsSpan(16));
        id.Value.TryWriteBytes(bytes.AsSpan(32));
        return bytes;
    }

    private static byte[] Text(string text)
    {
        var length = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(length, text.Length);
        return [.. length, .. System.Text.Encoding.ASCII.GetBytes(text)];
    }

    private static byte[] Named(string name) => [.. Text(name), 0, 0];

    private static byte[] Option(uint option, byte[] data)
    {
        var head = new byte[16];
        "IHAVEOPT"u8.CopyTo(head);
        BinaryPrimitives.WriteUInt32BigEndian(head.AsSpan(8), option);
        BinaryPrimitives.WriteInt32BigEndian(head.AsSpan(12), data.Length);
        return [.. head, .. data];
    }

    private static byte[] Command(ushort code, long offset, int length)
    {
        var command = new byte[28];
        BinaryPrimitives.WriteUInt32BigEndian(command, 0x25609513);
        BinaryPrimitives.WriteUInt16BigEndian(command.AsSpan(6), code);
        BinaryPrimitives.WriteInt64BigEndian(command.AsSpan(16), offset);
        BinaryPrimitives.WriteInt32BigEndian(command.AsSpan(24), length);
        return command;
    }
}
