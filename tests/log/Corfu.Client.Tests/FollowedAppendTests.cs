using System.Text;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

public class FollowedAppendTests
{
    // Ids of objects.
    private static readonly StreamId A = new(300), B = new(301), C = new(302);

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static async Task<List<string>> PlayAsync(StreamCursor cursor)
    {
        var played = new List<string>();
        while (await cursor.ReadNextAsync() is { } entry) played.Add(Encoding.UTF8.GetString(entry.Payload.Span));
        return played;
    }

    private static async Task<StreamCursor> CursorAsync(CorfuClient client, params StreamId[] streams)
    {
        var cursor = new StreamCursor(client);
        foreach (var stream in streams) cursor.Add(stream, LogPosition.Zero);
        await cursor.SyncAsync();
        await PlayAsync(cursor);
        return cursor;
    }

    private static int Count<T>(TestCluster cluster) => cluster.Transport.Trace!.Count(t => t.Request is T);

    [Fact]
    public async Task Entry_and_check_equal_a_readers()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (writer, reader) = (cluster.Client(), cluster.Client());
        await writer.AppendToObjectsAsync(Bytes("a"), [A]);
        await writer.AppendToObjectsAsync(Bytes("b"), [B]);
        var (result, placed) = await writer.AppendFollowedAsync(Bytes("ac"), [A, C], [A, B]);
        var check = await reader.CheckAsync([A, C, B]);
        Assert.Equal(check.Tail, placed!.Check.Tail);
        Assert.Equal(check.Streams, placed.Check.Streams);
        var read = (await reader.ReadManyAsync([result.Position]))[0].Entry!;
        Assert.Equal(read with { Streams = [], Payload = default },
            placed.Entry with { Streams = [], Payload = default });
        Assert.Equal(read.Streams, placed.Entry.Streams);
        Assert.Equal(read.Payload.ToArray(), placed.Entry.Payload.ToArray());
    }

    [Fact]
    public async Task Entry_of_the_client_is_played_without_a_check_and_without_a_read()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var (client, other) = (cluster.Client(), cluster.Client());
        var cursor = await CursorAsync(client, A, B);
        await other.AppendToObjectsAsync(Bytes("other"), [B]);
        var (_, placed) = await client.AppendFollowedAsync(Bytes("own"), [A], [A, B]);
        cluster.Transport.Trace = new();
        await cursor.SyncAsync(placed!);
        Assert.Equal(["other", "own"], await PlayAsync(cursor));
        Assert.Equal(placed!.Entry.Position.Next, cursor.Position);
        Assert.Equal(0, Count<TailRequest>(cluster));
        Assert.Equal([0], cluster.Transport.Trace.Select(t => t.Request).OfType<ReadRequest>()
            .SelectMany(read => read.Positions).Select(position => position.Offset));
    }

    [Fact]
    public async Task Stream_that_the_append_did_not_name_costs_a_check()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var (client, other) = (cluster.Client(), cluster.Client());
        var cursor = await CursorAsync(client, A);
        await other.AppendToObjectsAsync(Bytes("joined"), [C]);
        var (_, placed) = await client.AppendFollowedAsync(Bytes("own"), [A], [A]);
        cursor.Add(C, LogPosition.Zero);
        cluster.Transport.Trace = new();
        await cursor.SyncAsync(placed!);
        Assert.Equal(["joined", "own"], await PlayAsync(cursor));
        Assert.Equal(1, Count<TailRequest>(cluster));
    }

    [Fact]
    public async Task Append_of_an_older_epoch_than_the_cursor_knows_costs_a_check()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var cursor = await CursorAsync(client, A);
        var (_, placed) = await client.AppendFollowedAsync(Bytes("old"), [A], [A]);
        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(p => Membership.Of(p).WithSequencer(sequencer), "test");
        await client.AppendToObjectsAsync(Bytes("new"), [A]);
        await cursor.SyncAsync();
        cluster.Transport.Trace = new();
        await cursor.SyncAsync(placed!);
        Assert.Equal(["old", "new"], await PlayAsync(cursor));
        Assert.Equal(1, Count<TailRequest>(cluster));
    }

    [Fact]
    public async Task Entry_that_was_played_already_is_not_played_again()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var cursor = await CursorAsync(client, A);
        var (_, first) = await client.AppendFollowedAsync(Bytes("first"), [A], [A]);
        var (_, second) = await client.AppendFollowedAsync(Bytes("second"), [A], [A]);
        await cursor.SyncAsync(second!);
        Assert.Equal(["first", "second"], await PlayAsync(cursor));
        await cursor.SyncAsync(first!);
        Assert.Empty(await PlayAsync(cursor));
    }

    [Fact]
    public async Task Sequencer_without_a_stream_besides_grants_and_tells_no_check()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        await client.AppendToObjectsAsync(Bytes("a"), [A]);
        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(p => Membership.Of(p).WithSequencer(sequencer), "test");
        var (result, placed) = await client.AppendFollowedAsync(Bytes("own"), [A], [A, B]);
        Assert.True(result.IsAppended);
        Assert.Null(placed);

        // A check hands the stream over.
        await client.CheckAsync([B]);
        Assert.NotNull((await client.AppendFollowedAsync(Bytes("own"), [A], [A, B])).Placed);
    }
}
