using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using static Corfu.Agent.Tests.AgentTest;

namespace Corfu.Agent.Tests;

public class RebuildTests
{
    private static readonly StreamId A = StreamId.FromName("a");

    /// <summary>Unit 0 fails after so many appends, and a spare stands in its place.</summary>
    private static async Task<(TestCluster Cluster, CorfuClient Client, NodeAddress Spare)> ReplacedAsync(
        int appends, int units = 3, int replicas = 2, Func<TestCluster, CorfuClient, Task>? before = null)
    {
        var cluster = await TestCluster.StartAsync(units, replicas);
        var client = cluster.Client();
        await AppendAsync(client, 0, appends, A);
        if (before is not null) await before(cluster, client);
        var (dead, spare) = (cluster.Units[0], await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        await OperationsOf(cluster, client).ReplaceUnitAsync(dead.Id, [spare], "unit 0 is dead");
        return (cluster, client, spare);
    }

    [Fact]
    public async Task A_replacement_is_rebuilt_and_the_segments_are_one_again()
    {
        var (cluster, client, spare) = await ReplacedAsync(200);
        await using var _ = cluster;
        await AppendAsync(client, 200, 50, A);
        var rebuilder = Rebuilder(cluster, client);
        var projection = await rebuilder.RunAsync();
        Assert.False(Rebuilder.IsNeeded(projection));
        Assert.Single(projection.Segments);
        Assert.Equal(200, rebuilder.Progress.Total);
        Assert.Equal(200, rebuilder.Progress.Done);
        Assert.Equal(rebuilder.Progress.Total, rebuilder.Progress.Done);

        // The spare alone has what the dead unit had: its partner in chain (0,1) may go too.
        cluster.Transport.Stop(cluster.Units[1].Id);
        await OperationsOf(cluster, client).DropUnitAsync(cluster.Units[1].Id, "unit 1 too");
        await AssertWholeAsync(client, 250);
        Assert.Equal(PageState.Data, (await cluster.LookAsync(spare, new LogPosition(0))).State);
        await AppendAsync(client, 250, 10, A);
        var stream = new StreamCursor(cluster.Client(), A);
        await stream.SyncAsync();
        for (var i = 0; i < 260; i++) Assert.Equal(i, (await stream.ReadNextAsync())!.Position.Offset);
    }

    [Fact]
    public async Task R15_joining_replicas_are_never_read_by_clients()
    {
        var (cluster, client, spare) = await ReplacedAsync(30);
        await using var _ = cluster;
        cluster.Transport.Trace = new();
        await AssertWholeAsync(client, 30);
        Assert.DoesNotContain(cluster.Transport.Trace, t => t.To.Id == spare.Id);
    }

    [Fact]
    public async Task R15_a_copy_fills_holes_and_completes_half_written_entries()
    {
        LogPosition hole = default;
        LogPosition half = default;
        var (cluster, client, spare) = await ReplacedAsync(30, replicas: 3, before: async (c, _) =>
        {
            // A writer that dies after its token, and one that dies after the head. Both chains have unit 0 and more
            // than one other.
            var writer = c.Client(TestCluster.Options with { OperationTimeout = TimeSpan.FromMilliseconds(50) });
            var writes = 0;
            c.Transport.Faults = (_, r) => new(r is WriteRequest && ++writes > 0 ? Fault.Refused : Fault.None);
            hole = (await writer.AppendAsync(Bytes(1), [A])).Position;
            c.Transport.Faults =
                (to, r) =>
                    new(r is WriteRequest or CompleteRequest or FillRequest && to.Id != c.Units[1].Id
                        ? Fault.Refused
                        : Fault.None);
            half = (await writer.AppendAsync(Bytes(2), [A])).Position;
            c.Transport.Faults = null;
        });
        await using var _ = cluster;
        Assert.Equal(30, hole.Offset);
        Assert.Equal(31, half.Offset);
        await Rebuilder(cluster, client).RunAsync();
        Assert.Equal(PageState.Junk, (await cluster.LookAsync(spare, hole)).State);
        Assert.Equal(PageState.Data, (await cluster.LookAsync(spare, half)).State);
        Assert.Equal((await cluster.LookAsync(cluster.Units[1], half)).Origin,
            (await cluster.LookAsync(spare, half)).Origin);
    }

    [Fact]
    public async Task R15_trims_and_the_trim_mark_reach_the_replacement()
    {
        var (cluster, client, spare) = await ReplacedAsync(100, before: async (_, c) =>
        {
            await c.TrimPrefixAsync(new LogPosition(40));
            await c.TrimAsync(new LogPosition(60));
        });
        await using var _ = cluster;

        // Another trim while the unit is joining.
        await client.TrimAsync(new LogPosition(66));
        cluster.Transport.Trace = new();
        await Rebuilder(cluster, client).RunAsync();
        var copied = cluster.Transport.Trace.Select(t => t.Request).OfType<CompleteManyRequest>()
            .SelectMany(c => c.Entries).Select(e => EntryCodec.PeekPosition(e.Span).Offset).ToList();
        Assert.NotEmpty(copied);
        Assert.DoesNotContain(copied, offset => offset is < 40 or 60 or 66);
        for (var i = 0; i < 100; i++)
        {
            var position = new LogPosition(i);
            if (!client.Projection.ChainOf(position).Replicas.Contains(new Replica(spare.Id))) continue;
            Assert.Equal(i is < 40 or 60 or 66 ? PageState.Trimmed : PageState.Data,
                (await cluster.LookAsync(spare, position)).State);
        }
    }

    /// <summary>A reader of a trimmed position's state has sent the trim to the joining unit without the
    /// headers.</summary>
    [Fact]
    public async Task R5_a_trim_that_reached_the_replacement_first_gets_the_tombstone()
    {
        var (cluster, client, spare) = await ReplacedAsync(30, units: 2);
        await using var _ = cluster;
        await cluster.Transport.CallAsync(spare, new InstallRequest(client.Projection), default);
        var (trimmed, alone) = (new LogPosition(3), new LogPosition(7));
        await cluster.Transport.CallAsync(cluster.Units[1], new TrimRequest(client.Projection.Epoch, trimmed, default),
            default);
        foreach (var position in (LogPosition[])[trimmed, alone])
            Assert.True(
                (await cluster.Transport.CallAsync(spare, new TrimRequest(client.Projection.Epoch, position, default),
                    default)).IsOk);
        await Rebuilder(cluster, client).RunAsync();
        foreach (var position in (LogPosition[])[trimmed, alone])
        {
            var page = await cluster.LookAsync(spare, position);
            Assert.Equal(PageState.Trimmed, page.State);
            Assert.Equal(A, EntryCodec.DecodeHeaders(page.Bytes).Streams[0].Stream);
        }
    }

    /// <summary>Seeds 6118 and 9389: rebuilt units knew nothing of what was trimmed, and a stream that was there looked
    /// as if it had never been.</summary>
    [Fact]
    public async Task R22_a_stream_is_known_to_be_trimmed_when_no_unit_is_left_that_has_seen_the_entries()
    {
        var b = StreamId.FromName("b");
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 20, A);
        await AppendAsync(client, 20, 20, b);
        await client.TrimPrefixAsync(new LogPosition(25));
        foreach (var old in cluster.Units.ToArray())
        {
            var spare = await cluster.AddUnitAsync();
            cluster.Transport.Stop(old.Id);
            await OperationsOf(cluster, client).ReplaceUnitAsync(old.Id, [spare], "dead");
            await Rebuilder(cluster, client).RunAsync();
        }

        var fresh = cluster.Client();
        var tails = (await fresh.CheckAsync([A, b, StreamId.FromName("c")])).Streams;
        Assert.Equal([19L, 18, 17, 16], tails[0].Positions.Select(p => p.Offset));
        Assert.Equal([39L, 38, 37, 36], tails[1].Positions.Select(p => p.Offset));
        Assert.Empty(tails[2].Positions);
        foreach (var stream in (StreamCursor[])[new(cluster.Client(), A), new(cluster.Client(), b)])
        {
            await stream.SyncAsync();
            await Assert.ThrowsAsync<LogTrimmedException>(async () => await stream.ReadNextAsync());
        }
    }

    [Fact]
    public async Task Interrupted_rebuild_goes_on_from_the_pages_of_the_target()
    {
        var (cluster, client, spare) = await ReplacedAsync(300, units: 2);
        await using var _ = cluster;
        using var stop = new CancellationTokenSource();
        var frames = 0;
        var copies = 0;
        cluster.Transport.Faults = (_, r) =>
        {
            if (r is not CompleteManyRequest many) return new(Fault.None);
            if (Interlocked.Increment(ref frames) == 7) stop.Cancel();
            if (stop.IsCancellationRequested) return new(Fault.Refused);
            Interlocked.Add(ref copies, many.Entries.Length);
            return new(Fault.None);
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Rebuilder(cluster, client).RunAsync(stop.Token));
        cluster.Transport.Faults = null;
        var other = cluster.Client();
        var second = Rebuilder(cluster, other);
        await second.RunAsync();
        Assert.InRange(copies, 6, 299);
        Assert.Equal(300 - copies, second.Progress.Copied);
        Assert.Single(other.Projection.Segments);
        Assert.Equal(PageState.Data, (await cluster.LookAsync(spare, new LogPosition(299))).State);
    }

    [Fact]
    public async Task R15_a_differing_value_is_fatal_and_the_target_stays_joining()
    {
        var (cluster, client, spare) = await ReplacedAsync(30, units: 2);
        await using var _ = cluster;
        await StoreOtherAsync(cluster, client, spare, new LogPosition(7, Epoch.First));
        var error = await Assert.ThrowsAsync<RebuildException>(() => Rebuilder(cluster, client).RunAsync());
        Assert.Equal(spare.Id, error.Unit);
        Assert.Equal(7, error.Position.Offset);
        Assert.True(Rebuilder.IsNeeded(client.Projection));
    }

    [Fact]
    public async Task A_segment_that_cannot_be_rebuilt_keeps_no_other_waiting()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await AppendAsync(client, 0, 10, A);
        await OperationsOf(cluster, client).AddUnitsAsync([await cluster.AddUnitAsync()], "more");
        await AppendAsync(client, 10, 30, A);
        var (dead, spare) = (cluster.Units[0], await cluster.AddUnitAsync());
        cluster.Transport.Stop(dead.Id);
        await OperationsOf(cluster, client).ReplaceUnitAsync(dead.Id, [spare], "unit 0 is dead");
        await StoreOtherAsync(cluster, client, spare, new LogPosition(7, Epoch.First));
        Assert.Equal([0, 10], client.Projection.Segments.Where(IsJoined).Select(s => s.From.Offset));

        var error = await Assert.ThrowsAsync<RebuildException>(() => Rebuilder(cluster, client).RunAsync());
        Assert.Equal(7, error.Position.Offset);
        Assert.Equal([0], client.Projection.Segments.Where(IsJoined).Select(s => s.From.Offset));

        static bool IsJoined(Segment segment) =>
            segment.Chains.Any(chain => chain.Replicas.Any(replica => replica.Joining));
    }

    private static async Task StoreOtherAsync(TestCluster cluster, CorfuClient client, NodeAddress unit,
        LogPosition position)
    {
        var other = new LogEntry(position, new EntryOrigin(new WriterId(Guid.Empty), 1), EntryKind.Data,
            DateTimeOffset.UnixEpoch, [], Bytes(7));
        var answer = await cluster.Transport.CallAsync(unit,
            new CompleteRequest(client.Projection.Epoch, EntryCodec.Encode(other)), default);
        Assert.True(answer.IsOk);
    }

    [Fact]
    public async Task A_rebuild_crosses_epochs_while_appends_go_on()
    {
        var (cluster, client, spare) = await ReplacedAsync(400);
        await using var _ = cluster;
        var copies = 0;
        var other = cluster.Client();
        cluster.Transport.Faults = async (_, r) =>
        {
            if (r is CompleteManyRequest && Interlocked.Increment(ref copies) is 5 or 15)
                await OperationsOf(cluster, other).ReplaceSequencerAsync(other.Projection.Sequencer.Id,
                    [cluster.AddSequencer()], "meanwhile");
            return Fault.None;
        };
        var appends = AppendAsync(cluster.Client(), 400, 100, A);
        var projection = await Rebuilder(cluster, client).RunAsync();
        await appends;
        Assert.Single(projection.Segments);
        Assert.Equal(5, projection.Epoch.Value);
        await AssertWholeAsync(cluster.Client(), 500);
        Assert.True(projection.HasUnit(spare.Id));
    }

    [Fact]
    public async Task A_target_that_dies_is_replaced_and_the_rebuild_goes_on_with_the_next()
    {
        var (cluster, client, spare) = await ReplacedAsync(200);
        await using var _ = cluster;
        var second = await cluster.AddUnitAsync();
        var copies = 0;
        var agent = cluster.Client();
        cluster.Transport.Faults = async (to, r) =>
        {
            if (r is CompleteManyRequest && Interlocked.Increment(ref copies) == 5)
            {
                cluster.Transport.Stop(spare.Id);
                await OperationsOf(cluster, agent).ReplaceUnitAsync(spare.Id, [second], "the spare is dead");
            }

            return Fault.None;
        };
        var projection = await Rebuilder(cluster, client).RunAsync();
        Assert.Single(projection.Segments);
        Assert.False(projection.HasUnit(spare.Id));
        Assert.True(projection.HasUnit(second.Id));
        await AssertWholeAsync(client, 200);
    }

    [Fact]
    public async Task Rebuild_keeps_to_the_rate_and_reports_the_remaining_time()
    {
        var (cluster, client, _) = await ReplacedAsync(200, units: 2);
        await using var __ = cluster;
        var time = new JumpingTime();
        var options = new RebuildOptions
        {
            Batch = 16,
            BatchesInFlight = 1,
            BytesPerSecond = 2000,
            RetryDelay = TimeSpan.FromMilliseconds(1)
        };
        var rebuilder = new Rebuilder(client.Cluster, cluster.Transport, time, options: options);
        await rebuilder.RunAsync();
        var progress = rebuilder.Progress;
        Assert.Equal(200, progress.Copied);

        // As fast as the rate allows but for the first burst, and no faster.
        var least = TimeSpan.FromSeconds(progress.CopiedBytes / 2000.0) - TimeSpan.FromMilliseconds(100);
        Assert.InRange(progress.Elapsed, least * 0.9, least * 1.1);
        Assert.Equal(TimeSpan.Zero, progress.Remaining);
    }

    [Fact]
    public async Task Two_rebuilders_of_one_unit_do_no_harm()
    {
        var (cluster, client, _) = await ReplacedAsync(200);
        await using var __ = cluster;
        var other = cluster.Client();
        var results = await Task.WhenAll(Rebuilder(cluster, client).RunAsync(), Rebuilder(cluster, other).RunAsync());
        Assert.All(results, p => Assert.Single(p.Segments));
        await AssertWholeAsync(client, 200);
    }
}
