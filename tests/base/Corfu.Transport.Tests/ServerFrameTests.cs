using System.Buffers.Binary;
using Corfu.Protocol;
using Corfu.Server;

namespace Corfu.Transport.Tests;

public sealed class ServerFrameTests
{
    private static readonly ConfirmEpochRequest Ping = new(new Epoch(7));

    [Fact]
    public async Task Golden_bytes_of_request_and_answer()
    {
        Assert.Equal("10000000" + "05000000" + "0700000000000000" + "09" + "00" + "0000",
            Convert.ToHexString(Wire.Frame(5, Ping)));
        await using var server = await TestServer.StartAsync();
        using var socket = await server.RawAsync(server.AddEcho());
        await socket.SendAsync(Wire.Frame(5, Ping));
        Assert.Equal("10000000" + "05000000" + "0700000000000000" + "09" + "00" + "0000",
            Convert.ToHexString(await TestServer.ReceiveAsync(socket, 20)));
    }

    [Fact]
    public async Task A_frame_may_arrive_byte_by_byte()
    {
        await using var server = await TestServer.StartAsync();
        using var socket = await server.RawAsync(server.AddEcho());
        foreach (var b in Wire.Frame(1, new ReadRequest(new Epoch(1), [new LogPosition(3)], ReadDetail.Full)))
            await socket.SendAsync(new[] { b });
        var answer = await TestServer.ReceiveAsync(socket, 20);
        Assert.Equal(1u, BinaryPrimitives.ReadUInt32LittleEndian(answer.AsSpan(4)));
    }

    [Fact]
    public async Task An_answer_larger_than_a_frame_is_a_status_and_the_connection_goes_on()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.PageSize = 8192;
        using var transport = TestServer.Connect();
        var address = server.AddressOf(echo);
        var many = new ReadRequest(
            new Epoch(1), [.. Enumerable.Range(0, 2048).Select(i => new LogPosition(i))], ReadDetail.Full);
        Assert.Equal(Status.TooLarge, (await transport.CallAsync(address, many, default)).Status);
        Assert.Equal(Status.Ok, (await transport.CallAsync(address, Ping, default)).Status);
        Assert.Equal(1, server.Registry.ConnectionCount);
    }

    /// <summary>Kept for the connection's life, the largest frame of each would be the process's memory.</summary>
    [Fact]
    public async Task Memory_for_a_large_frame_is_given_back_after_the_handling()
    {
        var pool = new CountingPool();
        await using var server = await TestServer.StartAsync(new ServerTransportOptions { Scratch = pool });
        using var socket = await server.RawAsync(server.AddEcho());
        await socket.SendAsync(Wire.Frame(1, new CompleteRequest(new Epoch(1), new byte[1 << 20])));
        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);

        // A later request is handled after the batch before has ended.
        await socket.SendAsync(Wire.Frame(2, Ping));
        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
        Assert.True(pool.Rented > 0);
        Assert.Equal(pool.Rented, pool.Returned);
    }

    [Fact]
    public async Task Frames_that_arrive_together_are_one_batch()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        await socket.SendAsync(Enumerable.Range(0, 100).SelectMany(i => Wire.Frame((uint)i, Ping)).ToArray());
        var answers = await TestServer.ReceiveAsync(socket, 100 * 20);
        Assert.Equal(2000, answers.Length);
        Assert.Equal(100, echo.Requests);
        await Poll.UntilAsync(() => echo.Batches > 0);
        Assert.InRange(echo.Batches, 1, 10);
    }

    [Theory]
    [InlineData(uint.MaxValue)]
    [InlineData((uint)MessageLimits.MaxFrame + 1)]
    [InlineData(3u)]
    public async Task A_wrong_length_costs_the_connection(uint length)
    {
        await using var server = await TestServer.StartAsync();
        using var socket = await server.RawAsync(server.AddEcho());
        var frame = Wire.Frame(1, Ping);
        BinaryPrimitives.WriteUInt32LittleEndian(frame, length);
        await socket.SendAsync(frame);
        Assert.Empty(await TestServer.ReceiveAsync(socket, 10));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(255)]
    public async Task An_unknown_opcode_is_answered_and_the_connection_goes_on(byte opcode)
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        var frame = Wire.Frame(3, new ReadRequest(new Epoch(1), [new LogPosition(3)], ReadDetail.Full));
        frame[16] = opcode;
        await socket.SendAsync((byte[])[.. frame, .. Wire.Frame(4, Ping)]);
        var header = FrameHeader.Parse(await TestServer.ReceiveAsync(socket, 20));
        Assert.Equal(new FrameHeader(0, 3, Epoch.None, (Opcode)opcode, Status.Unsupported), header);
        Assert.Equal(4u, FrameHeader.Parse(await TestServer.ReceiveAsync(socket, 20)).Correlation);
        Assert.Equal(1, echo.Requests);
    }

    [Fact]
    public async Task A_damaged_body_costs_the_connection_but_earlier_requests_were_served()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        var read = Wire.Frame(2, new ReadRequest(new Epoch(1), [new LogPosition(3)], ReadDetail.Full));
        BinaryPrimitives.WriteInt32LittleEndian(read.AsSpan(21), int.MaxValue); // the count of positions
        await socket.SendAsync((byte[])[.. Wire.Frame(1, Ping), .. read]);
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 0);
        Assert.Equal(1, echo.Requests);
        using var again = await server.RawAsync(echo);
        await again.SendAsync(Wire.Frame(5, Ping));
        Assert.Equal(20, (await TestServer.ReceiveAsync(again, 20)).Length);
    }

    [Fact]
    public async Task Half_a_frame_and_then_the_end()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        await socket.SendAsync(Wire.Frame(1, Ping)[..11]);
        socket.Shutdown(System.Net.Sockets.SocketShutdown.Send);
        Assert.Empty(await TestServer.ReceiveAsync(socket, 10));
        Assert.Equal(0, echo.Requests);
    }

    [Fact]
    public async Task Connection_that_stops_within_a_frame_is_cut_off()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        await socket.SendAsync((byte[])[.. Wire.Frame(1, Ping), .. Wire.Frame(2, Ping)[..11]]);
        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
        var rest = TestServer.ReceiveAsync(socket, 10);
        while (!rest.IsCompleted)
        {
            time.Advance(TimeSpan.FromSeconds(10));
            await Task.Yield();
        }

        Assert.Empty(await rest);
    }

    /// <summary>The time-out is a frame's, not the connection's: it counts from the frame's own first byte.</summary>
    [Fact]
    public async Task A_connection_that_is_always_inside_a_frame_goes_on()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        var half = Wire.Frame(1, Ping)[..11];
        var rest = Wire.Frame(1, Ping)[11..];
        await socket.SendAsync((byte[])[.. Wire.Frame(1, Ping), .. half]);
        for (var i = 0; i < 6; i++)
        {
            // The answer proves that the server has read the half behind its request, which came with it.
            Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
            time.Advance(TimeSpan.FromSeconds(20));
            await socket.SendAsync((byte[])[.. rest, .. half]);
        }

        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
        Assert.Equal(7, echo.Requests);
    }

    /// <summary>The handler's own time was counted against the frame that it handles.</summary>
    [Fact]
    public async Task Slow_handler_of_a_frame_that_came_in_parts_is_no_delay_of_the_peer()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        await socket.SendAsync((byte[])[.. Wire.Frame(1, Ping), .. Wire.Frame(2, Ping)[..11]]);
        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
        time.Advance(TimeSpan.FromSeconds(20));
        echo.Handling = () => time.Advance(TimeSpan.FromSeconds(20));
        await socket.SendAsync(Wire.Frame(2, Ping)[11..]);
        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
        Assert.Equal(1, server.Registry.ConnectionCount);
    }

    /// <summary>The handler's own time was counted against the incomplete frame behind its request.</summary>
    [Fact]
    public async Task Slow_handler_before_a_part_of_a_frame_is_no_delay_of_the_peer()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var echo = server.AddEcho();
        using var socket = await server.RawAsync(echo);
        echo.Handling = () => time.Advance(TimeSpan.FromSeconds(40));
        await socket.SendAsync((byte[])[.. Wire.Frame(1, Ping), .. Wire.Frame(2, Ping)[..11]]);
        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
        for (var i = 0; i < 20; i++)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            await Task.Yield();
        }

        await socket.SendAsync(Wire.Frame(2, Ping)[11..]);
        Assert.Equal(20, (await TestServer.ReceiveAsync(socket, 20)).Length);
    }

    [Fact]
    public async Task An_idle_connection_is_closed_and_one_that_waits_for_an_answer_is_not()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var (idle, busy) = (server.AddEcho(), server.AddEcho());
        busy.Hold = true;
        using var idleSocket = await server.RawAsync(idle);
        using var busySocket = await server.RawAsync(busy);
        await busySocket.SendAsync(Wire.Frame(1, Ping));
        await Poll.UntilAsync(() => busy.HeldCount == 1);
        time.Advance(TimeSpan.FromMinutes(6));
        Assert.Empty(await TestServer.ReceiveAsync(idleSocket, 10));
        busy.Release(newestFirst: false);
        Assert.Equal(20, (await TestServer.ReceiveAsync(busySocket, 20)).Length);
    }

    [Fact]
    public async Task A_peer_that_does_not_read_is_cut_off()
    {
        var time = new ManualTime();
        await using var server = await TestServer.StartAsync(time: time);
        var echo = server.AddEcho();
        echo.PageSize = 1 << 20;
        using var socket = await server.RawAsync(echo);
        var read = Wire.Frame(1, new ReadRequest(new Epoch(1), [new LogPosition(3)], ReadDetail.Full));
        for (var i = 0; i < 64; i++) await socket.SendAsync(read);

        await Poll.UntilAsync(() => Volatile.Read(ref echo.Requests) > 0);

        // Reading stops long before all 64 MB are answered: what is not taken holds back what is asked.
        while (server.Registry.ConnectionCount > 0)
        {
            time.Advance(TimeSpan.FromSeconds(10));
            await Task.Yield();
        }

        Assert.InRange(echo.Requests, 1, 63);
    }

    [Fact]
    public async Task Too_many_answers_at_once_for_a_peer_that_does_not_read()
    {
        await using var server =
            await TestServer.StartAsync(new ServerTransportOptions
            {
                MaxOutputBuffer = 4 << 20,
                PauseReadingAt = 1 << 20
            });
        var echo = server.AddEcho();
        echo.PageSize = 1 << 20;
        echo.Hold = true;
        using var socket = await server.RawAsync(echo);
        var read = Wire.Frame(1, new ReadRequest(new Epoch(1), [new LogPosition(3)], ReadDetail.Full));
        for (var i = 0; i < 64; i++) await socket.SendAsync(read);
        await Poll.UntilAsync(() => echo.HeldCount == 64);
        echo.Release(newestFirst: false);
        await Poll.UntilAsync(() => server.Registry.ConnectionCount == 0);
    }

    [Fact]
    public async Task Requests_above_the_in_flight_limit_wait()
    {
        await using var server = await TestServer.StartAsync(new ServerTransportOptions { MaxInFlight = 10 });
        var echo = server.AddEcho();
        echo.Hold = true;
        using var socket = await server.RawAsync(echo);
        await socket.SendAsync(Enumerable.Range(0, 100).SelectMany(i => Wire.Frame((uint)i, Ping)).ToArray());
        await Poll.UntilAsync(() => echo.HeldCount == 10);
        echo.Release(newestFirst: false);
        Assert.Equal(2000, (await TestServer.ReceiveAsync(socket, 2000)).Length);
        Assert.Equal(100, echo.Requests);
    }

    [Fact]
    public async Task Removal_of_a_role_closes_only_the_connections_bound_to_that_role()
    {
        await using var server = await TestServer.StartAsync();
        var (old, other) = (server.AddEcho(), server.AddEcho());
        using var oldSocket = await server.RawAsync(old);
        using var otherSocket = await server.RawAsync(other);
        Assert.True(server.Registry.Remove(old.Id));
        Assert.Empty(await TestServer.ReceiveAsync(oldSocket, 10));
        await otherSocket.SendAsync(Wire.Frame(5, Ping));
        Assert.Equal(20, (await TestServer.ReceiveAsync(otherSocket, 20)).Length);
    }

    private sealed class CountingPool : System.Buffers.ArrayPool<byte>
    {
        public int Rented;
        public int Returned;

        public override byte[] Rent(int minimumLength)
        {
            Interlocked.Increment(ref Rented);
            return new byte[minimumLength];
        }

        public override void Return(byte[] array, bool clearArray = false) => Interlocked.Increment(ref Returned);
    }
}
