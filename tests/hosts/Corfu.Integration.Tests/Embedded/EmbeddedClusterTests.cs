using System.Collections.Immutable;
using System.Text;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Embedded;

public sealed class EmbeddedClusterTests
{
    private static readonly StreamId Stream = StreamId.FromName("a");

    [Fact]
    public async Task Appends_are_read_back_by_another_client()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        await using var writer = await cluster.ConnectAsync();
        var positions = new List<LogPosition>();
        for (var i = 0; i < 20; i++) positions.Add((await writer.AppendAsync(Bytes($"entry {i}"), [Stream])).Require());

        await using var reader = await cluster.ConnectAsync();
        var pages = await reader.ReadManyAsync([.. positions]);
        Assert.Equal(Enumerable.Range(0, 20).Select(i => $"entry {i}"), pages.Select(page => Text(page.Entry!)));
        var check = await reader.CheckAsync([Stream]);
        Assert.Equal(positions.Max().Next, check.Tail);
        Assert.Equal(positions.Max(), check.Streams[0].Positions[0]);
    }

    [Fact]
    public async Task Stream_delivers_entries_in_log_order()
    {
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var client = await cluster.ConnectAsync();
        var other = StreamId.FromName("other");
        for (var i = 0; i < 30; i++)
            (await client.AppendAsync(Bytes($"{i}"), i % 3 == 0 ? [Stream] : [other])).Require();

        var stream = new StreamCursor(client, Stream);
        await stream.SyncAsync();
        var read = new List<string>();
        while (await stream.ReadNextAsync() is { } entry) read.Add(Text(entry));
        Assert.Equal(Enumerable.Range(0, 10).Select(i => $"{i * 3}"), read);
    }

    [Fact]
    public async Task Reopening_the_folder_keeps_entries_ports_and_identities_and_begins_an_epoch()
    {
        using var folder = new TempFolder();
        var options = new EmbeddedClusterOptions { Folder = folder.File("data") };
        string connection;
        ImmutableArray<NodeAddress> units;
        await using (var first = await EmbeddedCluster.StartAsync(options))
        {
            connection = first.ConnectionString;
            await using var client = await first.ConnectAsync();
            units = client.Projection.Units;
            Assert.Equal(Epoch.First, client.Projection.Epoch);
            for (var i = 0; i < 10; i++) (await client.AppendAsync(Bytes($"{i}"), [Stream])).Require();
        }

        await using var second = await EmbeddedCluster.StartAsync(options);
        Assert.Equal(connection, second.ConnectionString);
        await using var again = await second.ConnectAsync();
        Assert.Equal(units.AsSpan(), again.Projection.Units.AsSpan());
        Assert.Equal(Epoch.First.Next, again.Projection.Epoch);
        var pages = await again.ReadManyAsync([.. Enumerable.Range(0, 10).Select(i => new LogPosition(i))]);
        Assert.Equal(Enumerable.Range(0, 10).Select(i => $"{i}"), pages.Select(page => Text(page.Entry!)));
        // The sequencer is another: the stream's tail has to come from the units.
        var next = (await again.AppendAsync(Bytes("next"), [Stream])).Require();
        var entry = (await again.ReadManyAsync([next]))[0].Entry!;
        Assert.Equal(new LogPosition(9), entry.Streams[0].Backpointers[0]);
    }

    [Fact]
    public async Task A_connected_client_goes_on_when_the_sequencer_is_replaced()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        await using var client = await cluster.ConnectAsync();
        var before = (await client.AppendAsync(Bytes("before"), [Stream])).Require();
        await cluster.StopNodeAsync("sequencer");
        await cluster.StartNodeAsync("sequencer");
        var after = (await client.AppendAsync(Bytes("after"), [Stream])).Require();
        Assert.True(after > before);
        Assert.Equal(Epoch.First.Next, after.Epoch);
    }

    [Fact]
    public async Task A_second_cluster_on_the_same_folder_is_refused_and_the_first_goes_on()
    {
        using var folder = new TempFolder();
        var options = new EmbeddedClusterOptions { Folder = folder.Path, Units = 1, Replicas = 1 };
        await using var cluster = await EmbeddedCluster.StartAsync(options);
        var refusal = await Assert.ThrowsAsync<NodeStartException>(() => EmbeddedCluster.StartAsync(options));
        Assert.Contains("in use", refusal.Message, StringComparison.Ordinal);
        await using var client = await cluster.ConnectAsync();
        Assert.True((await client.AppendAsync(Bytes("x"), [])).IsAppended);
    }

    [Fact]
    public async Task A_folder_of_another_shape_is_refused()
    {
        using var folder = new TempFolder();
        await using (await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions
        {
            Folder = folder.Path,
            Units = 1,
            Replicas = 1
        }))
        {
        }

        var refusal =
            await Assert.ThrowsAsync<NodeStartException>(
                () => EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Folder = folder.Path }));
        Assert.Contains("was made with 1, not 2", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task More_units_than_the_folder_has_are_added()
    {
        using var folder = new TempFolder();
        var options = new EmbeddedClusterOptions { Folder = folder.Path, Units = 1, Replicas = 1 };
        await using (await EmbeddedCluster.StartAsync(options))
        {
        }

        await using var cluster = await EmbeddedCluster.StartAsync(options with { Units = 2 });
        await using var client = await cluster.ConnectAsync();
        Assert.Equal(2, client.Projection.Active.Chains.Length);
    }

    [Fact]
    public async Task A_unit_whose_data_vanished_does_not_start_empty()
    {
        using var folder = new TempFolder();
        var options = new EmbeddedClusterOptions { Folder = folder.Path, Units = 1, Replicas = 1 };
        await using (await EmbeddedCluster.StartAsync(options))
        {
        }

        Directory.Delete(folder.File("unit-0/unit/data"), recursive: true);
        var refusal = await Assert.ThrowsAsync<NodeStartException>(() => EmbeddedCluster.StartAsync(options));
        Assert.Contains("is gone", refusal.Message, StringComparison.Ordinal);
        Assert.Contains("was the last of its chain", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_temporary_folder_is_deleted_at_the_end()
    {
        string folder;
        await using (var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 }))
        {
            folder = cluster.Folder;
            Assert.True(Directory.Exists(folder));
        }

        Assert.False(Directory.Exists(folder));
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static string Text(LogEntry entry) => Encoding.UTF8.GetString(entry.Payload.Span);
}
