using Corfu.Grpc.Protocol.Log.V1;
using Google.Protobuf;
using Tango.Testing;
using Outcome = Corfu.Grpc.Protocol.Log.V1.Outcome;

namespace Corfu.Grpc.Tests;

public sealed class ByteBudgetTests
{
    private const int Size = 60_000;

    [Fact]
    public async Task Calls_together_hold_no_more_bytes_than_the_budget()
    {
        var (running, most) = (0, 0);
        var gate = new Lock();
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            AroundAppend = async stop =>
            {
                // Before and after each append.
                lock (gate) most = Math.Max(most, stop.CanBeCanceled ? ++running : running--);
                await Task.Yield();
            },
        });
        await using var frontEnd = await FrontEnd.StartAsync(
            log, static options => (options.MaxReceiveMessage, options.MaxBytesInFlight) = (100_000, 100_000));
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        var entry = new NewEntry { Payload = ByteString.CopyFrom(new byte[Size]) };
        var calls = Enumerable.Range(0, 4).Select(async _ =>
        {
            var call = client.AppendMany();
            for (ulong id = 0; id < 5; id++)
                await call.RequestStream.WriteAsync(new AppendManyRequest
                {
                    Items = { new AppendManyRequest.Types.Item { Id = id, Entry = entry } },
                });
            await call.RequestStream.CompleteAsync();
            var results = new List<Outcome>();
            while (await call.ResponseStream.MoveNext(CancellationToken.None))
                results.AddRange(call.ResponseStream.Current.Items.Select(static item => item.Result.Outcome));
            return results;
        });
        var all = (await Task.WhenAll(calls)).SelectMany(static outcomes => outcomes).ToArray();
        Assert.Equal(20, all.Length);
        Assert.All(all, static outcome => Assert.Equal(Outcome.Appended, outcome));
        // Two entries do not fit.
        Assert.Equal(1, most);
    }
}
