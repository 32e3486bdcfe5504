using Corfu.Protocol;

namespace Corfu.Transport.Tests.Tls;

/// <summary>Many requests and large ones over one encrypted connection.</summary>
public sealed class TlsLoadTests
{
    private readonly TestAuthority _authority = new(TestServer.Cluster);

    [Theory]
    [InlineData(512, 128, 64)]
    [InlineData(512, 4096, 16)]
    [InlineData(64, 256 << 10, 4)]
    public async Task Every_call_gets_the_right_answer(int callers, int size, int calls)
    {
        await using var server = await TestServer.StartAsync(tls: Tls(AccessRole.Node));
        var echo = server.AddEcho();
        echo.PageSize = size;
        using var transport = TestServer.Connect(tls: Tls(AccessRole.Client));
        var to = server.AddressOf(echo);
        await Task.WhenAll(Enumerable.Range(0, callers).Select(caller => Task.Run(async () =>
        {
            for (var call = 0; call < calls; call++)
            {
                var position = new LogPosition((caller * calls) + call);
                var answer = await transport.CallAsync(to,
                    new ReadRequest(new Epoch(1), [position], ReadDetail.Full), default);
                Assert.Equal(position, answer.Pages[0].Position);
                Assert.Equal(size, answer.Pages[0].Bytes.Length);
                var write = new WriteRequest(new Epoch(1), new byte[size]);
                Assert.True((await transport.CallAsync(to, write, default)).IsOk);
            }
        })));
        Assert.Equal(1, transport.ConnectionCount);
    }

    [Fact]
    public async Task Answers_that_were_held_arrive_in_any_order()
    {
        await using var server = await TestServer.StartAsync(tls: Tls(AccessRole.Node));
        var echo = server.AddEcho();
        echo.PageSize = 4096;
        echo.Hold = true;
        using var transport = TestServer.Connect(tls: Tls(AccessRole.Client));
        var calls = Enumerable.Range(0, 5000).Select(i => transport.CallAsync(server.AddressOf(echo),
            new ReadRequest(new Epoch(1), [new LogPosition(i)], ReadDetail.Full), default).AsTask()).ToArray();
        await Poll.UntilAsync(() => echo.HeldCount == calls.Length);
        echo.Release(newestFirst: true);
        var answers = await Task.WhenAll(calls);
        for (var i = 0; i < answers.Length; i++) Assert.Equal(new LogPosition(i), answers[i].Pages[0].Position);
    }

    private ClusterTls Tls(AccessRole role) => new(new TestSource(_authority.Credentials(role)));
}
