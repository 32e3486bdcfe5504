using Corfu.Protocol;

namespace Corfu.Transport.Tests;

public sealed class ReplyBatchTests
{
    private static readonly ConfirmEpochRequest Ping = new(new Epoch(7));

    [Fact]
    public void Connection_is_corked_once_and_the_callers_thread_sends_for_one()
    {
        var (one, two, three) = (new Sink(), new Sink(), new Sink());
        var batch = new ReplyBatch();
        foreach (var sink in new[] { one, two, one, three, one, two })
        {
            batch.Add(new ReplyTo(sink, 0, Ping.Opcode));
            Assert.Equal(1, sink.Corks);
        }

        batch.Flush();
        Assert.All([one, two, three], sink => Assert.Equal(0, sink.Corks));
        Assert.Equal([false, true, true], new[] { one, two, three }.Select(sink => sink.IsApart).Order());

        // Another batch begins with none.
        batch.Flush();
        batch.Add(new ReplyTo(one, 0, Ping.Opcode));
        batch.Flush();
        Assert.False(one.IsApart);
        Assert.Equal(0, one.Corks);
    }

    [Fact]
    public async Task Answers_of_a_batch_reach_all_connections_and_later_ones_follow()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.Hold = true;
        TcpTransport[] clients = [TestServer.Connect(), TestServer.Connect(), TestServer.Connect()];
        var to = server.AddressOf(echo);
        var calls = Enumerable.Range(0, 300)
            .Select(i => clients[i % clients.Length].CallAsync(to, Ping, default).AsTask()).ToList();
        await Poll.UntilAsync(() => echo.HeldCount == calls.Count);
        echo.Release(newestFirst: false, batch: new ReplyBatch());
        Assert.All(await Task.WhenAll(calls), answer => Assert.Equal(Status.Ok, answer.Status));
        foreach (var client in clients)
        {
            Assert.Equal(Status.Ok, (await client.CallAsync(to, Ping, default)).Status);
            client.Dispose();
        }
    }

    /// <summary>The bytes beyond the limit leave at once: a cork bounds nothing but small answers.</summary>
    [Fact]
    public async Task Large_answers_leave_before_the_batch_ends()
    {
        await using var server = await TestServer.StartAsync();
        var echo = server.AddEcho();
        echo.PageSize = 100_000;
        echo.Hold = true;
        using var client = TestServer.Connect();
        var read = client.CallAsync(server.AddressOf(echo),
            new ReadRequest(new Epoch(1), [new LogPosition(3)], ReadDetail.Full), default).AsTask();
        await Poll.UntilAsync(() => echo.HeldCount == 1);
        var batch = new ReplyBatch();
        echo.Send(batch);
        Assert.Equal(100_000, (await read).Pages[0].Bytes.Length);
        batch.Flush();
    }

    private sealed class Sink : IReplySink
    {
        public int Corks { get; private set; }

        public bool IsApart { get; private set; }

        public void Send(uint correlation, Opcode opcode, Response response)
        {
        }

        public void Cork() => Corks++;

        public void Uncork(bool apart) => (Corks, IsApart) = (Corks - 1, apart);
    }
}
