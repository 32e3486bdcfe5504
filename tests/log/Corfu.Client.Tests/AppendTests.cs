using System.Collections.Immutable;
using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

public class AppendTests
{
    private static readonly StreamId A = StreamId.FromName("a"), B = StreamId.FromName("b");

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    [Theory]
    [InlineData(1, 1)]
    [InlineData(3, 2)]
    [InlineData(4, 3)]
    public async Task Appended_entry_is_read_back_at_every_chain_length(int units, int replicas)
    {
        await using var cluster = await TestCluster.StartAsync(units, replicas);
        var client = cluster.Client();
        var results =
            await Task.WhenAll(Enumerable.Range(0, 200)
                .Select(i => client.AppendAsync(Bytes($"entry {i}"), [A]).AsTask()));
        Assert.All(results, r => Assert.True(r.IsAppended));
        Assert.Equal(200, results.Select(r => r.Position).Distinct().Count());
        var read = await cluster.Client().ReadManyAsync([.. results.Select(r => r.Position)]);
        for (var i = 0; i < 200; i++)
        {
            Assert.Equal($"entry {i}", Encoding.UTF8.GetString(read[i].Entry!.Payload.Span));
            Assert.Equal(results[i].Origin, read[i].Entry!.Origin);
        }

        Assert.Equal(200, (await client.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Streams_play_in_order_across_clients()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (one, two) = (cluster.Client(), cluster.Client());
        var expected = new SortedDictionary<LogPosition, string>();
        for (var i = 0; i < 20; i++)
        {
            ImmutableArray<StreamId> streams = i % 3 == 0 ? [A, B] : i % 3 == 1 ? [A] : [B];
            var results = await Task.WhenAll(
                Enumerable.Range(0, 10)
                    .Select(j => (j % 2 == 0 ? one : two).AppendAsync(Bytes($"{i}.{j}"), streams).AsTask()));
            for (var j = 0; j < 10; j++) expected[results[j].Position] = $"{i}.{j}";
        }

        var cursor = new StreamCursor(cluster.Client());
        cursor.Add(A, LogPosition.Zero);
        cursor.Add(B, LogPosition.Zero);
        await cursor.SyncAsync();
        var played = new List<string>();
        while (await cursor.ReadNextAsync() is { } entry) played.Add(Encoding.UTF8.GetString(entry.Payload.Span));
        Assert.Equal(expected.Values, played);
    }

    [Fact]
    public async Task Lone_append_sends_one_token_request_and_the_chain_writes_only()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        await client.AppendAsync(Bytes("first"), [A]);
        cluster.Transport.Trace = new();
        await client.AppendAsync(Bytes("second"), [A]);
        Assert.Equal([Opcode.Token, Opcode.Write, Opcode.Write], cluster.Transport.Trace.Select(t => t.Request.Opcode));
    }

    [Fact]
    public async Task Concurrent_appends_to_the_same_streams_share_tokens()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var gate = new TaskCompletionSource();
        cluster.Transport.Trace = new();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TokenRequest) await gate.Task;
            return Fault.None;
        };
        var client = cluster.Client();
        var appends = Enumerable.Range(0, 100).Select(i => client.AppendAsync(Bytes($"{i}"), [A]).AsTask()).ToList();
        gate.SetResult();
        await Task.WhenAll(appends);
        Assert.InRange(cluster.Transport.Trace.Count(t => t.Request is TokenRequest), 1, 3);
        Assert.Equal(100, (await client.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Too_large_is_refused_before_anything_is_done()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { MaxPayload = 100 });
        await Assert.ThrowsAsync<EntryTooLargeException>(() => client.AppendAsync(new byte[101], [A]).AsTask());
        Assert.Equal(0, (await client.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Cancelled_before_the_grant_throws_and_leaves_no_hole_behind()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var gate = new TaskCompletionSource();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TokenRequest) await gate.Task;
            return Fault.None;
        };
        var client = cluster.Client();
        var first = client.AppendAsync(Bytes("first"), [A]).AsTask();
        var second = client.AppendAsync(Bytes("second"), [A]).AsTask();
        using var cancel = new CancellationTokenSource();
        var third = client.AppendAsync(Bytes("third"), [A], cancel.Token).AsTask();
        cancel.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => third);
        gate.SetResult();
        Assert.True((await first).IsAppended);
        Assert.True((await second).IsAppended);
        Assert.Equal(2, (await client.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Cancelled_after_the_grant_is_the_third_outcome_and_can_be_resolved()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        using var cancel = new CancellationTokenSource();
        cluster.Transport.Faults = (_, request) =>
        {
            if (request is not WriteRequest) return new(Fault.None);
            cancel.Cancel();
            return new(Fault.AnswerLost);
        };
        var client = cluster.Client();
        var result = await client.AppendAsync(Bytes("x"), [A], cancel.Token);
        Assert.Equal(AppendOutcome.Unknown, result.Outcome);
        Assert.Throws<AppendUnknownException>(() => result.Require());
        cluster.Transport.Faults = null;
        Assert.Equal(AppendOutcome.Appended, await client.ResolveAsync(result));
        Assert.Equal(AppendOutcome.Appended, await cluster.Client().ResolveAsync(result));
    }

    [Theory]
    [InlineData(nameof(Fault.Refused))]
    [InlineData(nameof(Fault.RequestLost))]
    [InlineData(nameof(Fault.AnswerLost))]
    public async Task R9_a_write_without_an_answer_is_resolved_and_the_entry_is_there_once(string fault)
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var left = 6;
        var number = 0;
        cluster.Transport.Faults = (_, request) =>
            new(request is WriteRequest && ++number % 2 == 0 && left-- > 0 ? Enum.Parse<Fault>(fault) : Fault.None);
        for (var i = 0; i < 10; i++) Assert.True((await client.AppendAsync(Bytes($"{i}"), [A])).IsAppended);
        var stream = new StreamCursor(client, A);
        await stream.SyncAsync();
        for (var i = 0; i < 10; i++)
            Assert.Equal($"{i}", Encoding.UTF8.GetString((await stream.ReadNextAsync())!.Payload.Span));
        Assert.Null(await stream.ReadNextAsync());
    }

    [Fact]
    public async Task A_full_unit_is_an_error_at_once_and_says_so()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        cluster.Full = true;
        var error = await Assert.ThrowsAsync<CorfuStatusException>(() => client.AppendAsync(Bytes("x"), [A]).AsTask());
        Assert.Equal(Status.NoSpace, error.Status);
        cluster.Full = false;
        Assert.True((await client.AppendAsync(Bytes("y"), [A])).IsAppended);
        Assert.Equal(PageState.Junk, (await client.ReadManyAsync([LogPosition.Zero]))[0].State);
    }

    [Fact]
    public async Task Appends_beyond_the_bytes_that_may_wait_are_refused_and_one_alone_never_is()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var gate = new TaskCompletionSource();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TokenRequest) await gate.Task;
            return Fault.None;
        };
        var client = cluster.Client(TestCluster.Options with { MaxAppendBytesWaiting = 100 });
        var large = client.AppendAsync(new byte[200], [A]).AsTask();
        await Assert.ThrowsAsync<LogOverloadedException>(() => client.AppendAsync(new byte[1], [A]).AsTask());
        gate.SetResult();
        Assert.True((await large).IsAppended);
        Assert.True((await client.AppendAsync(new byte[1], [A])).IsAppended);
    }

    [Fact]
    public async Task Appends_beyond_the_limit_of_waiters_are_refused_and_not_in_the_log()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { MaxAppendsInFlight = 1, MaxAppendsWaiting = 1 });
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is WriteRequest) await gate.Task;
            return Fault.None;
        };
        var appends = new[] { "first", "second" }.Select(text => client.AppendAsync(Bytes(text), [A]).AsTask())
            .ToArray();
        await Assert.ThrowsAsync<LogOverloadedException>(() => client.AppendAsync(Bytes("third"), [A]).AsTask());
        gate.SetResult();
        Assert.Equal([0L, 1], (await Task.WhenAll(appends)).Select(append => append.Position.Offset));
        Assert.Equal(2, (await client.AppendAsync(Bytes("fourth"), [A])).Position.Offset);
        Assert.Equal(3, (await client.CheckAsync([A])).Tail.Offset);
    }

    [Fact]
    public async Task Closed_client_refuses_calls_and_ends_waiting_ones()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var gate = new TaskCompletionSource();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TokenRequest) await gate.Task;
            return Fault.RequestLost;
        };
        var waiting = client.AppendAsync(Bytes("x"), [A]).AsTask();
        await client.DisposeAsync();
        gate.SetResult();
        await Assert.ThrowsAnyAsync<Exception>(() => waiting);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => client.AppendAsync(Bytes("x"), [A]).AsTask());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => client.CheckAsync([A]).AsTask());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => client.ReadManyAsync([LogPosition.Zero]).AsTask());
    }
}
