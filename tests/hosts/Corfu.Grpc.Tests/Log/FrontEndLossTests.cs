using System.Collections.Immutable;
using System.Text;
using Corfu.Client;
using Corfu.Grpc.Client;
using Tango.Testing;

namespace Corfu.Grpc.Tests;

/// <summary>Appends of <see cref="GrpcCorfuLog"/> while a front end stops, or has lost the cluster.</summary>
public sealed class FrontEndLossTests
{
    private static readonly StreamId s_stream = StreamId.FromName("a");

    private static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    /// <summary>Every rolling restart does it.</summary>
    [Fact]
    public async Task Stop_of_a_front_end_leaves_no_append_in_doubt()
    {
        const int writers = 200;
        var inner = new InMemoryCorfuLog(new InMemoryLogOptions { Yield = true });
        var first = await FrontEnd.StartAsync(inner);
        await using var second = await FrontEnd.StartAsync(inner);
        await using var log = await GrpcCorfuLog.ConnectAsync($"{first.Address},{second.Address}");
        var count = 0;
        var some = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var stop = new CancellationTokenSource();
        var writing = Enumerable.Range(0, writers).Select(async writer =>
        {
            var results = new List<AppendResult>();
            while (!stop.IsCancellationRequested)
            {
                results.Add(await log.AppendAsync(Bytes($"{writer}"), [s_stream], CancellationToken.None));
                if (Interlocked.Increment(ref count) == 1000) some.TrySetResult();
            }

            return results;
        }).ToArray();
        await some.Task;
        await first.DisposeAsync();
        await stop.CancelAsync();
        var all = (await Task.WhenAll(writing)).SelectMany(static results => results).ToArray();
        Assert.All(all, static result => Assert.Equal(AppendOutcome.Appended, result.Outcome));
        Assert.Equal(all.Length, all.Select(static result => result.Position).Distinct().Count());
        // Nothing was appended twice.
        var cursor = new StreamCursor(inner, s_stream);
        await cursor.SyncAsync();
        var read = 0;
        while (await cursor.ReadNextAsync() is not null) read++;
        Assert.Equal(all.Length, read);
    }

    [Fact]
    public async Task Front_end_that_has_lost_the_cluster_is_left()
    {
        var inner = new LostCluster();
        await using var first = await FrontEnd.StartAsync(inner);
        await using var second = await FrontEnd.StartAsync(new InMemoryCorfuLog());
        await using var log = await GrpcCorfuLog.ConnectAsync($"{first.Address},{second.Address}");
        Assert.Equal(AppendOutcome.Appended, (await log.AppendAsync(Bytes("1"), [s_stream])).Outcome);
        Assert.Equal(AppendOutcome.Appended, (await log.AppendAsync(Bytes("2"), [s_stream])).Outcome);
        Assert.Equal(1, inner.Refused);
    }

    [Fact]
    public async Task Append_past_the_bound_is_sent_again_with_another_bound()
    {
        var inner = new InMemoryCorfuLog();
        await using var frontEnd = await FrontEnd.StartAsync(inner);
        await using var log = await GrpcCorfuLog.ConnectAsync(frontEnd.Address);
        (await log.AppendAsync(Bytes("1"), [s_stream])).Require();
        // Others go on by more than a bound allows.
        for (var i = 0; i < 20_000; i++) await inner.AppendAsync(default, []);
        Assert.Equal(20_001, (await log.AppendAsync(Bytes("2"), [s_stream])).Require().Offset);
    }

    /// <summary>Appends are refused as by a client whose cluster is gone; the rest works.</summary>
    private sealed class LostCluster : WrappedLog
    {
        private int _refused;

        public int Refused => _refused;

        public override ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload,
            ImmutableArray<StreamId> streams, AppendTerms terms, CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref _refused);
            throw new LogUnavailableException("The cluster is gone.");
        }
    }
}
