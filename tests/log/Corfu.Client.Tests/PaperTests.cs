using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Client.Tests.Streams;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

/// <summary>A test per claim of the papers that the client implements; the claim is cited.</summary>
public partial class PaperTests
{
    private static async Task<List<string>> PlayAsync(StreamCursor stream)
    {
        await stream.SyncAsync();
        var played = new List<string>();
        while (await stream.ReadNextAsync() is { } entry) played.Add(Encoding.UTF8.GetString(entry.Payload.Span));
        return played;
    }

    /// <summary>Tango 5: "striding backward on the log, issuing N/K reads to build the list for a stream with N
    /// entries".</summary>
    [Fact]
    public async Task Tango5_a_stream_of_n_entries_is_walked_with_n_over_k_reads()
    {
        const int n = 200;
        var log = new ScriptedLog();
        for (var i = 0; i < n; i++)
        {
            log.Append($"{i}", 300);
            for (var j = 0; j < 30; j++) log.Append("other", 301);
        }

        var cursor = new StreamCursor(log);
        cursor.Add(new StreamId(300), LogPosition.Zero);
        await cursor.SyncAsync();
        var batches = StreamCursor.ReadAhead;
        Assert.InRange(log.Reads, 1, n / StreamHeader.MaxBackpointers + batches);
    }

    /// <summary>Tango 5: when all K backpointers lead to junk, "a client ... resorts to scanning the log backwards to
    /// find an earlier valid entry".</summary>
    [Fact]
    public async Task Tango5_when_all_backpointers_are_bare_junk_the_log_is_scanned_backwards()
    {
        var log = new ScriptedLog { BareJunk = true };
        for (var i = 0; i < 5; i++) log.Append($"{i}", 300);
        for (var i = 0; i < 150; i++) log.Append("other", 301);
        for (var i = 0; i < 10; i++) log.Grant(300);
        for (var i = 5; i < 8; i++) log.Append($"{i}", 300);
        var cursor = new StreamCursor(log, new StreamId(300));
        Assert.Equal(["0", "1", "2", "3", "4", "5", "6", "7"], await PlayAsync(cursor));
    }

    /// <summary>Tango 5: sync "brings the linked list up-to-date"; readnext then follows it.</summary>
    [Fact]
    public async Task Tango5_readnext_follows_sync()
    {
        var log = new ScriptedLog();
        var stream = new StreamCursor(log, new StreamId(300));
        log.Append("a", 300);
        Assert.Null(await stream.ReadNextAsync());
        Assert.Equal(["a"], await PlayAsync(stream));
    }

    private static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static Task<CorfuClient> AppendedAsync(TestCluster cluster, int count) =>
        AppendedAsync(cluster, count, cluster.Client());

    private static async Task<CorfuClient> AppendedAsync(TestCluster cluster, int count, CorfuClient client)
    {
        for (var i = 0; i < count; i++) await client.AppendAsync(Bytes($"{i}"), [StreamId.FromName("a")]);
        return client;
    }

    /// <summary>TOCS 2.2: "log positions are mapped to storage pages in the corresponding list of extents via ...
    /// round-robin".</summary>
    [Fact]
    public async Task Tocs22_positions_go_round_robin_over_the_chains()
    {
        await using var cluster = await TestCluster.StartAsync(3, 1);
        await AppendedAsync(cluster, 9);
        for (var i = 0; i < 9; i++)
        {
            for (var unit = 0; unit < 3; unit++)
                Assert.Equal(unit == i % 3 ? PageState.Data : PageState.Unwritten,
                    (await cluster.LookAsync(cluster.Units[unit], new LogPosition(i))).State);
        }
    }

    /// <summary>TOCS 2.3: a client "first goes to the sequencer ... and can write to it without contention from other
    /// clients".</summary>
    [Fact]
    public async Task Tocs23_with_tokens_no_two_appends_contend()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var writes = 0;
        cluster.Transport.Faults = (_, request) =>
        {
            if (request is WriteRequest) Interlocked.Increment(ref writes);
            return new(Fault.None);
        };
        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => AppendedAsync(cluster, 25)));
        Assert.Equal(200, writes);
    }

    /// <summary>TOCS 2.4: the client "updates them in a deterministic order, waiting for each storage unit to respond
    /// before moving to the next one".</summary>
    [Fact]
    public async Task Tocs24_replicas_are_written_in_chain_order_one_after_the_other()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = cluster.Client();
        cluster.Transport.Trace = new();
        await AppendedAsync(cluster, 3, client);
        var writes = cluster.Transport.Trace.Where(t => t.Request is WriteRequest).Select(t => t.To.Id).ToList();
        Assert.Equal(client.Projection.Active.Chains.SelectMany(c => c.Replicas.Select(r => r.Unit)), writes);
    }

    /// <summary>TOCS 2.4: "one of them will arrive second at the first unit of the chain": the head decides between a
    /// writer and a filler.</summary>
    [Fact]
    public async Task Tocs24_the_head_decides_between_a_writer_and_a_filler()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var (writer, filler) = (cluster.Client(), cluster.Client());
        var writes = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            // The writer has the head; the filler comes before it reaches the second replica.
            if (request is WriteRequest && ++writes == 2)
                Assert.Equal(PageState.Data, (await filler.FillAsync(LogPosition.Zero)).State);
            return Fault.None;
        };
        Assert.Equal(LogPosition.Zero, (await writer.AppendAsync(Bytes("x"), [])).Require());
    }

    /// <summary>TOCS 2.4: a reader "may probe the last unit of the chain to check if a write has completed".</summary>
    [Fact]
    public async Task Tocs24_an_entry_that_only_the_head_holds_is_not_read_before_the_completion()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (writer, reader) = (cluster.Client(), cluster.Client());
        var gate = new TaskCompletionSource();
        var headWritten = new TaskCompletionSource();
        var writes = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is not WriteRequest || ++writes < 2) return Fault.None;
            headWritten.SetResult();
            await gate.Task;
            return Fault.None;
        };
        var append = writer.AppendAsync(Bytes("x"), []).AsTask();
        await headWritten.Task;
        Assert.Equal(PageState.Unwritten,
            (await reader.ReadManyAsync([LogPosition.Zero], mode: ReadMode.Observe))[0].State);
        Assert.Equal(PageState.Data, (await reader.ReadManyAsync([LogPosition.Zero]))[0].State);
        gate.SetResult();
        Assert.True((await append).IsAppended);
    }

    /// <summary>TOCS 2.5: "messages from sealed epochs can be aborted": a client with an obsolete projection cannot
    /// write.</summary>
    [Fact]
    public async Task Tocs25_a_sealed_epoch_takes_no_writes()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (old, other) = (cluster.Client(), cluster.Client());
        await AppendedAsync(cluster, 3, old);
        var sequencer = cluster.AddSequencer();
        await other.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "test");
        var result = await old.AppendAsync(Bytes("x"), []);
        Assert.Equal(new Epoch(2), result.Position.Epoch);
        Assert.Equal(new Epoch(2), old.Projection.Epoch);
    }

    /// <summary>TOCS 2.5, Fig. 5 (A) to (B): "replacing F6 with F8 for new appends beyond the current tail of the log,
    /// while servicing reads ... with the remaining mirror".</summary>
    [Fact]
    public async Task Tocs25_new_appends_go_to_a_replacement_while_the_mirror_serves_the_old_range()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = await AppendedAsync(cluster, 10);
        var (dead, mirror, spare) = (cluster.Units[0], cluster.Units[1], await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        var chain = new Chain([new Replica(mirror.Id), new Replica(spare.Id)]);
        await client.Cluster.ReconfigureAsync(
            p => p.HasUnit(dead.Id) ? Membership.Of(p).Without(dead.Id).WithNextChains([chain], [spare]) : null,
            "F6 fails");
        await AppendedAsync(cluster, 10, client);
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 20).Select(i => new LogPosition(i))]);
        Assert.All(read, r => Assert.True(r.IsData));
        Assert.Equal(PageState.Data, (await cluster.LookAsync(spare, new LogPosition(15))).State);
    }

    /// <summary>TOCS 2.3: "The starting counter of a new sequencer is determined using the highest page written on each
    /// storage unit".</summary>
    [Fact]
    public async Task Tocs23_a_new_sequencer_starts_above_the_highest_page_written()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await AppendedAsync(cluster, 7);
        var sequencer = cluster.AddSequencer();
        var projection =
            await client.Cluster.ReconfigureAsync(
                p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer), "test");
        Assert.Equal(7, projection.Start.Offset);
        Assert.Equal(7, (await client.AppendAsync(Bytes("x"), [])).Position.Offset);
    }

    /// <summary>TOCS 2.5: "multiple clients can initiate reconfiguration simultaneously, but only one of them succeeds
    /// in proposing the new projection".</summary>
    [Fact]
    public async Task Tocs25_of_simultaneous_proposals_one_is_decided()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2, acceptors: 3);
        var proposals = Enumerable.Range(0, 4).Select(_ => cluster.AddSequencer()).ToList();
        var results = await Task.WhenAll(proposals.Select(s => cluster.Client().Cluster.ReconfigureAsync(
            p => p.Epoch > Epoch.First ? null : Membership.Of(p).WithSequencer(s), "test")));
        Assert.Single(results.Distinct());
        Assert.Equal(new Epoch(2), results[0].Epoch);
    }

    /// <summary>TOCS 2.6: trim informs "CORFU when individual log positions are no longer in use"; the address space
    /// becomes sparse.</summary>
    [Fact]
    public async Task Tocs26_any_position_can_be_trimmed_alone()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await AppendedAsync(cluster, 9);
        for (var i = 0; i < 9; i += 2) await client.TrimAsync(new LogPosition(i));
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 9).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 9; i++) Assert.Equal(i % 2 == 0 ? PageState.Trimmed : PageState.Data, read[i].State);
    }

    /// <summary>Tango 2.2: "a read or a check is guaranteed to see any completed append operations".</summary>
    [Fact]
    public async Task Tango22_reads_and_checks_see_completed_appends()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var (one, two) = (cluster.Client(), cluster.Client());
        for (var i = 0; i < 20; i++)
        {
            var position = (await one.AppendAsync(Bytes($"{i}"), [])).Require();
            Assert.True((await two.CheckAsync([])).Tail > position);
            Assert.True((await two.ReadManyAsync([position], mode: ReadMode.Observe))[0].IsData);
        }
    }

    /// <summary>Tango 5: "To allow each entry to belong to multiple streams"; here any number of them.</summary>
    [Fact]
    public async Task Tango5_an_entry_belongs_to_many_streams()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var streams = Enumerable.Range(0, 200).Select(i => new StreamId(StreamId.FirstRawValue + (ulong)i)).ToArray();
        await client.AppendAsync(Bytes("x"), [.. streams]);
        foreach (var stream in streams) Assert.Equal(["x"], await PlayAsync(new StreamCursor(client, stream)));
    }
}
