using System.Buffers;
using System.Diagnostics;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol.Tests;
using Corfu.Transport;

namespace Corfu.Fuzz;

/// <summary>
/// Every role of every node of a running cluster gets damaged handshakes and frames, while a good client appends and
/// reads. Every append must succeed, and the process must not grow. What is well-formed and changes a node's state is
/// left out: every client that may connect may do that. With TLS the same goes through encrypted connections of a
/// client, and damaged records of TLS beside them.
/// </summary>
public sealed class PortFuzz(int seed, TextWriter output, bool tls)
{
    private const int FramesPerConnection = 32;
    private const long MemoryAllowance = 256L << 20;

    private static readonly StreamId Stream = StreamId.FromName("fuzz");
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly IReadOnlyList<byte[]> _frames = [.. SampleMessages.Requests().Select(SampleMessages.Frame)];
    private ClusterTls? _tls;

    private string Name => tls ? "ports tls" : "ports";

    public async Task<bool> RunAsync(int frames)
    {
        await using var cluster =
            await EmbeddedCluster.StartAsync(
                new EmbeddedClusterOptions { Units = 3, Replicas = 2, Automatic = false, Tls = tls });
        ConnectionTls.Apply(ConnectionString.Parse(cluster.ConnectionString), new TcpTransportOptions(),
            new TlsOptions(), out _tls);
        using var certificates = _tls;
        await using var good = await cluster.ConnectAsync();
        using var stop = new CancellationTokenSource();
        var working = WorkAsync(good, stop.Token);
        GC.Collect();
        var before = GC.GetTotalMemory(true);
        var doors = cluster.Manifest.Nodes.SelectMany(n => n.Roles.Select(r => (n.Endpoint, Id: r.Id))).ToList();
        var sequencer = good.Projection.Sequencer;
        doors.Add((sequencer.Endpoint, sequencer.Id.Value));
        var sent = 0;
        var connections = 0;
        var told = Stopwatch.GetTimestamp();
        while (sent < frames && !working.IsCompleted)
        {
            var random = FuzzRandom.For(seed, Name, connections);
            var (endpoint, id) = doors[connections++ % doors.Count];
            sent += await AttackAsync(random, endpoint, cluster.Manifest.ClusterId, new NodeId(id));
            if (Stopwatch.GetElapsedTime(told).TotalSeconds < 10) continue;
            told = Stopwatch.GetTimestamp();
            await output.WriteLineAsync($"{Name}: {sent} of {frames} frames, {connections} connections");
        }

        await stop.CancelAsync();
        var (appends, trouble) = await working.WaitAsync(Patience);
        if (trouble is not null) trouble += await StateAsync(good);
        var after = GC.GetTotalMemory(true);
        var grown = after - before;
        if (trouble is null)
        {
            await using var newcomer = await cluster.ConnectAsync();
            var tail = (await newcomer.CheckAsync([])).Tail;
            if (tail.Offset < appends) trouble = $"{appends} appends, but the tail is {tail}";
        }

        if (trouble is null && grown > MemoryAllowance) trouble = $"the process has grown by {grown >> 20} MiB";
        await output.WriteLineAsync(
            $"{Name,-18} frames {sent,9} connections {connections} appends meanwhile {appends} grown "
            + $"{grown >> 10} KiB{(trouble is null ? "" : " FINDING " + trouble)}");
        return trouble is null;
    }

    /// <summary>The units' own reports, to tell a stall from a refusal.</summary>
    private async Task<string> StateAsync(CorfuClient client)
    {
        using var transport =
            new TcpTransport(new TcpTransportOptions { Cluster = client.Projection.Cluster, Tls = _tls });
        var text = $"; the client is at {client.Projection}";
        foreach (var unit in client.Projection.Units)
        {
            try
            {
                var info = await transport.CallAsync(unit, new UnitInfoRequest(Epoch.None), default);
                text += $"; {unit.Id}: {info.Status}, sealed below {info.SealedBelow}, installed {info.Installed}, "
                    + $"end {info.End}";
            }
            catch (TransportException e)
            {
                text += $"; {unit.Id}: {e.Message}";
            }
        }

        return text;
    }

    private static async Task<(long Appends, string? Trouble)> WorkAsync(CorfuClient client, CancellationToken stop)
    {
        await Task.Yield();
        long appends = 0;
        try
        {
            while (!stop.IsCancellationRequested)
            {
                using var patience = new CancellationTokenSource(Patience);
                var position =
                    (await client.AppendAsync(BitConverter.GetBytes(appends), [Stream], patience.Token))
                        .Require();
                appends++;
                if (appends % 64 != 0) continue;
                var read = (await client.ReadManyAsync([position], cancellationToken: patience.Token))[0];
                if (!read.IsData || BitConverter.ToInt64(read.Entry!.Payload.Span) != appends - 1)
                    return (appends, $"{position} reads as {read.State}");
            }

            return (appends, null);
        }
        catch (Exception e)
        {
            return (appends, $"the good client's append {appends}: {e.GetType().Name}: {e.Message}");
        }
    }

    private async Task<int> AttackAsync(FuzzRandom random, NodeEndpoint endpoint, ClusterId cluster, NodeId id)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using var patience = new CancellationTokenSource(Patience);
        var hello = Hello(cluster, id);
        byte[][] hellos = [hello];
        var damagedHello = random.OneIn(8);
        if (damagedHello) hello = Mutator.Mutate(ref random, hellos);
        var bytes = new ArrayBufferWriter<byte>();
        bytes.Write(hello);
        var sent = 0;
        for (; sent < FramesPerConnection; sent++) bytes.Write(DamagedFrame(ref random));
        try
        {
            await socket.ConnectAsync(endpoint.Host, endpoint.Port, patience.Token);
            await using var stream = await OpenAsync(socket, random.OneIn(4), random.Next(256), patience.Token);
            var answers = DrainAsync(stream, patience.Token);
            var left = bytes.WrittenMemory;
            while (left.Length > 0)
            {
                var part = Math.Min(left.Length, 1 + random.Next(4096));
                await stream.WriteAsync(left[..part], patience.Token);
                left = left[part..];

                // Into the middle of the encrypted records.
                if (tls && random.OneIn(64)) await socket.SendAsync(new byte[] { 0x17, 3, 3, 0, 1, 0 }, patience.Token);
            }

            if (random.OneIn(2)) socket.Shutdown(SocketShutdown.Send);
            else if (random.OneIn(2)) socket.Close(0);
            else socket.Shutdown(SocketShutdown.Both);
            await answers;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or IOException
            or AuthenticationException or InvalidOperationException)
        {
            // Cut off, as it should be.
        }

        return sent;
    }

    // With TLS a connection begins with a handshake, a whole one or what only looks like one.
    private async Task<Stream> OpenAsync(Socket socket, bool damaged, int value, CancellationToken cancellationToken)
    {
        var plain = new NetworkStream(socket);
        if (_tls is null) return plain;
        if (damaged)
        {
            // The record's length stands in its fourth and fifth byte.
            await plain.WriteAsync(new byte[] { 0x16, 3, 1, (byte)(value >> 4), (byte)value, (byte)value },
                cancellationToken);
            return plain;
        }

        var encrypted = new SslStream(plain);
        await encrypted.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            ApplicationProtocols = [ClusterTls.Protocol],
            ClientCertificateContext = _tls.Source.Current.Context,
            RemoteCertificateValidationCallback = static (_, _, _, _) => true,
        }, cancellationToken);
        return encrypted;
    }

    private byte[] DamagedFrame(ref FuzzRandom random)
    {
        while (true)
        {
            var frame = Mutator.Mutate(ref random, _frames);
            if (!random.OneIn(4) && frame.Length >= MessageCodec.HeaderSize) ProtocolTargets.RepairFrame(frame);
            if (IsHarmless(frame)) return frame;
        }
    }

    // Several frames in one input are only told apart by the node; the first that it refuses ends the connection, but
    // the ones before count.
    private static bool IsHarmless(byte[] bytes)
    {
        var at = 0;
        while (at + MessageCodec.HeaderSize <= bytes.Length)
        {
            try
            {
                var header = FrameHeader.Parse(bytes.AsSpan(at));
                var end = at + MessageCodec.HeaderSize + header.BodyLength;
                if (end > bytes.Length) return end <= at + (1 << 16) ? false : true;
                var request = MessageCodec.ReadRequest(
                    header, bytes.AsMemory((at + MessageCodec.HeaderSize)..end), SampleMessages.Table);
                if (!IsHarmless(request)) return false;
                at = end;
            }
            catch (MalformedDataException)
            {
                return true;
            }
        }

        // A remainder would become the beginning of another frame.
        return at == bytes.Length;
    }

    private static bool IsHarmless(Request? request) => request switch
    {
        null or ReadRequest or ConfirmEpochRequest or UnitInfoRequest or StreamTailsRequest or ListStreamTailsRequest
            or TailRequest or GrantsRequest or SequencerInfoRequest or LatestRequest
            or ReadSlotRequest or TokenRequest { Count: <= 4 } or AgentInfoRequest or ProcessInfoRequest => true,
        // Reports no node as leaving, and switches nothing.
        PingRequest ping => !ping.Leaving && ping.Automation == default,
        // The agent looks where it is told to, as long as that is here.
        SuspicionRequest suspicion => suspicion.Suspect.Endpoint.Host is "127.0.0.1" or "localhost" or "",
        EntryRequest e => !IsEntry(e.Entry),
        _ => false,
    };

    private static bool IsEntry(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            EntryCodec.Decode(bytes);
            return true;
        }
        catch (MalformedDataException)
        {
            return false;
        }
    }

    private static async Task DrainAsync(Stream stream, CancellationToken cancellationToken)
    {
        var buffer = new byte[1 << 16];
        try
        {
            while (await stream.ReadAsync(buffer, cancellationToken) > 0)
            {
                // Answers to what was well-formed.
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or OperationCanceledException
            or IOException or AuthenticationException)
        {
            // Either side has ended the connection.
        }
    }

    // docs/protocol.md, Connections.
    private static byte[] Hello(ClusterId cluster, NodeId id)
    {
        var bytes = new byte[48];
        "CORFU\r\n\u001a"u8.CopyTo(bytes);
        bytes[8] = bytes[10] = 1;
        cluster.Value.TryWriteBytes(bytes.AsSpan(16));
        id.Value.TryWriteBytes(bytes.AsSpan(32));
        return bytes;
    }
}
