using System.Buffers.Binary;
using System.Net;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Hosting;
using Corfu.ZooKeeper.Wire;
using Tango;
using Tango.Testing;
using Tango.ZooKeeper;
using WriteRequest = Corfu.ZooKeeper.Wire.WriteRequest;

namespace Corfu.Fuzz;

/// <summary>
/// A front end of ZooKeeper's protocol gets damaged frames, while a good client writes and reads. Every write must
/// succeed, every read must be right, and the process must not grow.
/// </summary>
public sealed class ZooKeeperPortFuzz(int seed, TextWriter output)
{
    private const string Name = "zookeeper port";
    private const long MemoryAllowance = 256L << 20;
    private const string Good = "/good";

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    public async Task<bool> RunAsync(int frames)
    {
        await using var runtime = new TangoRuntime(new InMemoryCorfuLog(), ZooKeeperFrontEnd.RuntimeOptions);
        await using var server = await ZooKeeperFrontEnd.StartAsync(runtime,
            new ZooKeeperFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0)));
        var samples = ZooKeeperTargets.Requests().Select(ZooKeeperTargets.Frame).ToList();
        byte[][] beginnings = [.. ZooKeeperTargets.FirstFrames(), "ruok"u8.ToArray(), "mntr"u8.ToArray()];
        await using var client = await ZooClient.ConnectAsync("127.0.0.1", server.EndPoint.Port);
        using var stop = new CancellationTokenSource();
        var working = WorkAsync(client, stop.Token);
        var before = GC.GetTotalMemory(true);
        var (sent, connections) = (0, 0);
        while (sent < frames && !working.IsCompleted)
        {
            var random = FuzzRandom.For(seed, Name, connections++);
            sent += await PortAttack.RunAsync(
                random, server.EndPoint, beginnings[random.Next(beginnings.Length)], samples, Repaired);
        }

        await stop.CancelAsync();
        var trouble = await working.WaitAsync(s_patience);
        var grown = GC.GetTotalMemory(true) - before;
        if (trouble is null && grown > MemoryAllowance) trouble = $"the process has grown by {grown >> 20} MiB";
        await output.WriteLineAsync($"{Name,-18} frames {sent,9} connections {connections} grown "
            + $"{grown >> 10} KiB{(trouble is null ? "" : " FINDING " + trouble)}");
        return trouble is null;
    }

    private static async Task<string?> WorkAsync(ZooClient client, CancellationToken stop)
    {
        // Attackers may delete what everyone may delete.
        ImmutableArray<AclEntry> own = [new AclEntry(Permissions.All, "auth", "")];
        await client.SendAsync(new AuthRequest("digest", [.. "good:secret"u8]), default);
        await client.SendAsync(
            new WriteRequest(OpCode.Create, new CreateOp(Good, [], own, CreateFlags.Persistent)), default);
        for (var i = 0; !stop.IsCancellationRequested; i++)
        {
            var data = BitConverter.GetBytes(i);
            try
            {
                var write = await client.SendAsync(
                    new WriteRequest(OpCode.SetData, new SetDataOp(Good, data, i)), default);
                if (write.Error != ErrorCode.Ok) return $"write {i} has {write.Error}";
                var read = await client.SendAsync(new NodeRequest(OpCode.GetData, Good), default);
                if (!read.Data.AsSpan().SequenceEqual(data)) return $"write {i} reads otherwise";
            }
            catch (ZooClientException e)
            {
                return $"the good connection has ended: {e.Message}";
            }
        }

        return null;
    }

    private static byte[] Repaired(byte[] frame)
    {
        if (frame.Length >= sizeof(int)) BinaryPrimitives.WriteInt32BigEndian(frame, frame.Length - sizeof(int));
        return frame;
    }
}
