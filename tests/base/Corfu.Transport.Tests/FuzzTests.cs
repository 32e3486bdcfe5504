using System.Net;
using System.Net.Sockets;
using Corfu.Protocol;

namespace Corfu.Transport.Tests;

public sealed class FuzzTests
{
    private static readonly ConfirmEpochRequest Ping = new(new Epoch(7));

    /// <summary>Valid frames with a few bytes changed, cut anywhere: each costs at most its own connection.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task A_server_outlives_damaged_frames(int seed)
    {
        var random = new Random(seed);
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        Request[] requests =
        [
            Ping,
            new ReadRequest(new Epoch(1), [.. Enumerable.Range(0, 5).Select(i => new LogPosition(i))], ReadDetail.Full),
            new TokenRequest(new Epoch(1), 3, [new StreamId(300), new StreamId(301)]),
            new LoadStreamsRequest(new Epoch(1),
                [new StreamTail(new StreamId(300), [new LogPosition(4), new LogPosition(2)])]),
            new WriteRequest(new Epoch(1), new byte[300]),
            new PrepareRequest(new Epoch(1), new Ballot(1, Guid.Empty)),
        ];
        for (var round = 0; round < 150; round++)
        {
            using var socket = await server.RawAsync(echo);
            var bytes = Enumerable.Range(0, 4)
                .SelectMany(i => Wire.Frame((uint)i, requests[random.Next(requests.Length)])).ToArray();
            for (var changes = random.Next(1, 4); changes > 0; changes--)
                bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
            await socket.SendAsync(bytes.AsMemory(0, random.Next(1, bytes.Length + 1)));
        }

        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 0);
        using var transport = TestServer.Connect();
        Assert.True((await transport.CallAsync(server.AddressOf(echo), Ping, default)).IsOk);
    }

    /// <summary>A node that answers anything at all: calls end in an exception of the documented kind or in an answer,
    /// and never hang.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_client_outlives_damaged_answers(int seed)
    {
        var random = new Random(seed);
        var id = new NodeId(Guid.NewGuid());
        for (var round = 0; round < 100; round++)
        {
            using var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            var endpoint = new NodeEndpoint("127.0.0.1", ((IPEndPoint)listener.LocalEndpoint).Port);
            using var transport = TestServer.Connect();
            var call = transport.CallAsync(new NodeAddress(id, endpoint),
                new TailRequest(new Epoch(1), [new StreamId(300)]), default).AsTask();
            using var peer = await listener.AcceptSocketAsync();

            // A single connection is accepted: if it is lost before the request was sent, the transport's second
            // attempt is refused.
            listener.Stop();
            await TestServer.ReceiveAsync(peer, Wire.HelloSize);
            var welcome =
                Convert.FromHexString("434F5246550D0A1A" + "0100" + "0000" + "12000000"
                    + "11111111222233334444555555555555" + "0000");
            if (random.Next(2) == 0) welcome[random.Next(welcome.Length)] ^= (byte)(1 << random.Next(8));
            await peer.SendAsync(welcome);
            var answer = new byte[20 + random.Next(60)];
            random.NextBytes(answer);
            if (random.Next(3) > 0)
                Convert.FromHexString("3C000000" + "00000000" + "0100000000000000" + "22" + "00" + "0000")
                    .CopyTo(answer, 0);
            try
            {
                await peer.SendAsync(answer);
                peer.Shutdown(SocketShutdown.Send);
            }
            catch (SocketException)
            {
                // The client has hung up on the welcome already.
            }

            try
            {
                await call;
            }
            catch (TransportException)
            {
                // The documented exception.
            }
        }
    }
}
