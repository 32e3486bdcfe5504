using System.Collections.Immutable;
using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

public class HoleTests
{
    private static readonly StreamId A = StreamId.FromName("a");

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static string Text(LogReadResult result) => Encoding.UTF8.GetString(result.Entry!.Payload.Span);

    /// <summary>A token that no client will use.</summary>
    private static async Task<LogPosition> GrantAsync(TestCluster cluster, CorfuClient client,
        params StreamId[] streams)
    {
        var projection = client.Projection;
        var response = await cluster.Transport.CallAsync(
            projection.Sequencer, new TokenRequest(projection.Epoch, 1, [.. streams]), default);
        Assert.Equal(Status.Ok, response.Status);
        return response.First;
    }

    [Fact]
    public async Task R10_an_abandoned_position_is_filled_at_every_replica()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = cluster.Client();
        await client.AppendAsync(Bytes("0"), [A]);
        var hole = await GrantAsync(cluster, client, A);
        await client.AppendAsync(Bytes("2"), [A]);
        var read = (await client.ReadManyAsync([hole]))[0];
        Assert.Equal(PageState.Junk, read.State);
        foreach (var unit in cluster.Units) Assert.Equal(PageState.Junk, (await cluster.LookAsync(unit, hole)).State);
    }

    [Fact]
    public async Task R8_junk_carries_the_headers_of_the_lost_append()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var before = await client.AppendAsync(Bytes("0"), [A]);
        var hole = await GrantAsync(cluster, client, A);
        var junk = (await client.ReadManyAsync([hole]))[0];
        Assert.True(junk.Entry!.TryGetStream(A, out var header));
        Assert.Equal([before.Position], header.Backpointers);
    }

    [Fact]
    public async Task R8_without_the_sequencers_memory_junk_is_bare()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var hole = await GrantAsync(cluster, client, A);
        cluster.Transport.Faults = (_, request) => new(request is GrantsRequest ? Fault.RequestLost : Fault.None);
        var junk = (await client.ReadManyAsync([hole]))[0];
        Assert.Equal(PageState.Junk, junk.State);
        Assert.Empty(junk.Entry!.Streams);
    }

    [Fact]
    public async Task A_partly_written_position_is_completed_with_the_heads_value()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var (dying, client) = (cluster.Client(), cluster.Client());
        var writes = 0;
        cluster.Transport.Faults =
            (_, request) => new(request is WriteRequest && ++writes > 1 ? Fault.RequestLost : Fault.None);
        var append = dying.AppendAsync(Bytes("half"), [A]).AsTask();
        var read = (await client.ReadManyAsync([LogPosition.Zero]))[0];
        Assert.Equal("half", Text(read));
        foreach (var unit in cluster.Units)
            Assert.Equal(PageState.Data, (await cluster.LookAsync(unit, LogPosition.Zero)).State);

        // The writer, which goes on trying, finds its own entry there.
        cluster.Transport.Faults = null;
        Assert.Equal(read.Entry!.Origin, (await append).Origin);
    }

    [Fact]
    public async Task Behind_a_damaged_head_the_middle_replica_completes_the_tail()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var (dying, client) = (cluster.Client(), cluster.Client());
        var damage = new Damage();
        var writes = 0;
        cluster.Transport.Faults =
            (_, request) => new(request is WriteRequest && ++writes > 2 ? Fault.RequestLost : Fault.None);
        var append = dying.AppendAsync(Bytes("two of three"), [A]).AsTask();
        damage.Add(cluster.Units[0], LogPosition.Zero);
        cluster.Transport.Rewrite = damage.Rewrite;
        Assert.Equal("two of three", Text((await client.ReadManyAsync([LogPosition.Zero]))[0]));
        Assert.Equal(PageState.Data, (await cluster.LookAsync(cluster.Units[2], LogPosition.Zero)).State);
        cluster.Transport.Faults = null;
        Assert.True((await append).IsAppended);
    }

    [Fact]
    public async Task A_value_that_only_a_damaged_head_holds_is_neither_filled_nor_invented()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var (dying, client) =
            (cluster.Client(TestCluster.Options with { OperationTimeout = TimeSpan.FromMilliseconds(200) }),
                cluster.Client());
        var damage = new Damage();
        var writes = 0;
        cluster.Transport.Faults =
            (_, request) => new(request is WriteRequest && ++writes > 1 ? Fault.RequestLost : Fault.None);
        var append = dying.AppendAsync(Bytes("one of three"), [A]).AsTask();
        damage.Add(cluster.Units[0], LogPosition.Zero);
        cluster.Transport.Rewrite = damage.Rewrite;
        Assert.Equal(PageState.Corrupt, (await client.ReadManyAsync([LogPosition.Zero]))[0].State);
        Assert.Equal(AppendOutcome.Unknown, (await append).Outcome);
        foreach (var unit in cluster.Units.Skip(1))
            Assert.Equal(PageState.Unwritten, (await cluster.LookAsync(unit, LogPosition.Zero)).State);
    }

    /// <summary>The simulator's seed 1880: the filler came back in an epoch in which all of the position's segment is
    /// trimmed.</summary>
    [Fact]
    public async Task Position_trimmed_during_the_fill_is_answered_as_trimmed()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (filler, other) = (cluster.Client(), cluster.Client());
        await cluster.Transport.CallAsync(cluster.First.Sequencer, new TokenRequest(Epoch.First, 1, [], 0), default);
        var asked = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is not ReadRequest { Detail: ReadDetail.Full } || Interlocked.Increment(ref asked) != 2)
                return Fault.None;
            for (var i = 0; i < 3; i++) await other.AppendAsync(Bytes($"{i}"), [A]);
            var one = cluster.Chains(2, 2)[..1];
            await other.Cluster.ReconfigureAsync(
                p => p.Segments.Length > 1 ? null : Membership.Of(p).WithNextChains(one, []),
                "another segment");
            await other.TrimPrefixAsync((await other.CheckAsync([])).Tail);
            var sequencer = cluster.AddSequencer();
            await other.Cluster.ReconfigureAsync(
                p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer), "sequencer");
            Assert.True(other.Projection.TrimMark > LogPosition.Zero);
            return Fault.None;
        };
        Assert.Equal(PageState.Trimmed, (await filler.FillAsync(LogPosition.Zero)).State);
        Assert.True(asked >= 2);
    }

    /// <summary>R8: the sequencer answers about a part of the positions at a time.</summary>
    [Fact]
    public async Task Holes_of_many_streams_get_the_headers_in_several_answers()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { HoleWait = TimeSpan.FromSeconds(1) });
        ImmutableArray<StreamId> streams =
            [.. Enumerable.Range(0, EntryLimits.MaxStreams).Select(i => StreamId.FromName($"{i}"))];
        await cluster.Transport.CallAsync(
            cluster.First.Sequencer, new TokenRequest(cluster.First.Epoch, 20, streams), default);
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 20).Select(i => new LogPosition(i))]);
        Assert.All(read, page => Assert.Equal(EntryLimits.MaxStreams, page.Entry!.Streams.Length));
    }

    /// <summary>The advice to operators: no client was ever shown or promised the value, so the log goes on without
    /// it.</summary>
    [Fact]
    public async Task Entry_that_only_a_damaged_head_held_becomes_junk_when_the_head_leaves()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var (dying, client) =
            (cluster.Client(TestCluster.Options with { OperationTimeout = TimeSpan.FromMilliseconds(200) }),
                cluster.Client());
        var damage = new Damage();
        var writes = 0;
        cluster.Transport.Faults =
            (_, request) => new(request is WriteRequest && ++writes > 1 ? Fault.RequestLost : Fault.None);
        var append = dying.AppendAsync(Bytes("one of three"), [A]).AsTask();
        damage.Add(cluster.Units[0], LogPosition.Zero);
        cluster.Transport.Rewrite = damage.Rewrite;
        Assert.Equal(PageState.Corrupt, (await client.ReadManyAsync([LogPosition.Zero]))[0].State);
        var unknown = await append;
        cluster.Transport.Faults = null;
        var bad = cluster.Units[0].Id;
        await client.Cluster.ReconfigureAsync(p => p.Units.Any(u => u.Id == bad) ? Membership.Of(p).Without(bad) : null,
            "damaged");
        Assert.Equal(PageState.Junk, (await client.ReadManyAsync([LogPosition.Zero]))[0].State);
        Assert.Equal(AppendOutcome.NotAppended, await dying.ResolveAsync(unknown));
    }

    /// <summary>The simulator's seeds 529 and 795: the second replica's write was still under way when a reader gave
    /// the page up.</summary>
    [Fact]
    public async Task Value_of_a_damaged_head_is_waited_for_at_the_next_replica()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (writer, client) =
            (cluster.Client(), cluster.Client(TestCluster.Options with { HoleWait = TimeSpan.FromSeconds(2) }));
        var damage = new Damage();
        cluster.Transport.Rewrite = damage.Rewrite;
        var waitedFor = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var atHead = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var (writes, looks) = (0, 0);
        cluster.Transport.Faults = async (to, request) =>
        {
            if (request is WriteRequest && ++writes == 2)
            {
                damage.Add(cluster.Units[0], LogPosition.Zero);
                atHead.SetResult();
                await waitedFor.Task;
            }

            // The first round looks twice at the head: for a value, and for where else it is.
            if (request is ReadRequest && to == cluster.Units[0] && ++looks == 3) waitedFor.SetResult();
            return Fault.None;
        };
        var append = writer.AppendAsync(Bytes("on its way"), [A]).AsTask();
        await atHead.Task;
        Assert.Equal("on its way", Text((await client.ReadManyAsync([LogPosition.Zero]))[0]));
        Assert.True((await append).IsAppended);
    }

    [Fact]
    public async Task R10_a_position_that_is_not_granted_is_not_filled()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        await client.AppendAsync(Bytes("0"), [A]);
        var beyond = new LogPosition(1);
        Assert.Equal(PageState.Unwritten, (await client.ReadManyAsync([beyond]))[0].State);
        await Assert.ThrowsAsync<PositionNotGrantedException>(() => client.FillAsync(beyond).AsTask());
        Assert.Equal(beyond, (await client.AppendAsync(Bytes("1"), [A])).Position);
    }

    [Fact]
    public async Task R10_a_filler_leaves_the_writer_time()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var gate = new TaskCompletionSource();
        var looked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is WriteRequest) await gate.Task;
            if (request is ReadRequest { Detail: ReadDetail.Full }) looked.TrySetResult();
            Assert.False(request is FillRequest, "filled too early");
            return Fault.None;
        };
        var options = TestCluster.Options with { HoleWait = TimeSpan.FromSeconds(8) };
        var client = cluster.Client(options);
        var append = client.AppendAsync(Bytes("slow"), [A]).AsTask();
        var read = client.ReadManyAsync([LogPosition.Zero]).AsTask();
        await looked.Task;
        gate.SetResult();
        Assert.Equal("slow", Text((await read)[0]));
        Assert.True((await append).IsAppended);
    }

    [Fact]
    public async Task R10_a_value_that_comes_just_before_the_fill_is_taken()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var (writer, client) = (cluster.Client(), cluster.Client());
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var written = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var writes = 0;
        var fills = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is WriteRequest)
            {
                // The second replica's: the head has it.
                if (++writes == 2) written.SetResult();
                if (writes == 1) await gate.Task;
            }

            if (request is FillRequest && fills++ == 0)
            {
                gate.SetResult();
                await written.Task;
            }

            return Fault.None;
        };
        var append = writer.AppendAsync(Bytes("late"), [A]).AsTask();
        Assert.Equal("late", Text((await client.ReadManyAsync([LogPosition.Zero]))[0]));
        Assert.Equal(0, (await append).Position.Offset);
        Assert.Equal(1, fills);
    }

    [Fact]
    public async Task Fill_does_not_wait_and_the_writer_takes_another_position()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var gate = new TaskCompletionSource();
        var held = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is WriteRequest && held++ == 0) await gate.Task;
            return Fault.None;
        };
        var options = TestCluster.Options with { HoleWait = TimeSpan.FromSeconds(8) };
        var client = cluster.Client(options);
        var append = client.AppendAsync(Bytes("late"), [A]).AsTask();
        Assert.Equal(PageState.Junk, (await cluster.Client(options).FillAsync(LogPosition.Zero)).State);
        gate.SetResult();
        var result = await append;
        Assert.True(result.IsAppended);
        Assert.Equal(1, result.Position.Offset);
        Assert.Equal("late", Text((await client.ReadManyAsync([result.Position]))[0]));
    }

    [Fact]
    public async Task R10_a_writer_that_lost_twice_asks_for_a_longer_grace()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var other = cluster.Client();
        var graces = new List<int>();
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TokenRequest token) graces.Add(token.GraceMilliseconds);
            if (request is WriteRequest write && graces.Count <= 3)
                await other.FillAsync(EntryCodec.PeekPosition(write.Entry.Span));
            return Fault.None;
        };
        Assert.Equal(3, (await cluster.Client().AppendAsync(Bytes("x"), [A])).Position.Offset);
        var first = Appender.GraceMilliseconds;
        Assert.Equal([0, 0, first, 2 * first], graces);
    }

    [Fact]
    public async Task A_range_of_holes_is_closed_in_one_read()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        for (var i = 0; i < 100; i++)
        {
            if (i % 10 == 0) await client.AppendAsync(Bytes($"{i}"), [A]);
            else await GrantAsync(cluster, client, A);
        }

        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 100).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 100; i++) Assert.Equal(i % 10 == 0 ? PageState.Data : PageState.Junk, read[i].State);
    }

    [Fact]
    public async Task Observing_has_no_effect()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var hole = await GrantAsync(cluster, client, A);
        Assert.Equal(PageState.Unwritten, (await client.ReadManyAsync([hole], mode: ReadMode.Observe))[0].State);
        Assert.Equal(PageState.Unwritten, (await cluster.LookAsync(cluster.Units[0], hole)).State);
    }

    [Fact]
    public async Task Large_entries_come_in_several_answers()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client();
        var positions = ImmutableArray.CreateBuilder<LogPosition>();
        for (var i = 0; i < 8; i++)
        {
            var payload = new byte[900_000];
            payload[0] = (byte)i;
            positions.Add((await client.AppendAsync(payload, [A])).Position);
        }

        cluster.Transport.Trace = new();
        var read = await client.ReadManyAsync(positions.ToImmutable());
        for (var i = 0; i < 8; i++) Assert.Equal(i, read[i].Entry!.Payload.Span[0]);
        Assert.InRange(cluster.Transport.Trace.Count, 2, 8);
    }
}
