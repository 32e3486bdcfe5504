using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

public class TrimTests
{
    private static readonly StreamId A = StreamId.FromName("a");

    private static async Task<CorfuClient> FilledAsync(TestCluster cluster, int count)
    {
        var client = cluster.Client();
        for (var i = 0; i < count; i++) await client.AppendAsync(Encoding.UTF8.GetBytes($"{i}"), [A]);
        return client;
    }

    [Fact]
    public async Task A_prefix_is_trimmed_at_every_replica()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await FilledAsync(cluster, 12);
        await client.TrimPrefixAsync(new LogPosition(7));
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 12).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 12; i++) Assert.Equal(i < 7 ? PageState.Trimmed : PageState.Data, read[i].State);
        foreach (var unit in cluster.Units)
            Assert.Equal(7,
                (await cluster.Transport.CallAsync(unit, new UnitInfoRequest(default), default)).TrimMark.Offset);
    }

    [Fact]
    public async Task R10_a_trim_beyond_the_tail_is_refused()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = await FilledAsync(cluster, 3);
        await Assert.ThrowsAsync<PositionNotGrantedException>(
            () => client.TrimPrefixAsync(new LogPosition(4)).AsTask());
        await Assert.ThrowsAsync<PositionNotGrantedException>(() => client.TrimAsync(new LogPosition(3)).AsTask());
    }

    [Fact]
    public async Task R5_a_single_trim_keeps_the_headers_so_that_streams_survive()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await FilledAsync(cluster, 12);
        for (var i = 4; i < 10; i++) await client.TrimAsync(new LogPosition(i));
        var trimmed = (await client.ReadManyAsync([new LogPosition(6)]))[0];
        Assert.Equal(PageState.Trimmed, trimmed.State);
        Assert.True(trimmed.Entry!.TryGetStream(A, out _));
        var stream = new StreamCursor(client, A);
        await stream.SyncAsync();
        for (var i = 0; i < 4; i++)
            Assert.Equal($"{i}", Encoding.UTF8.GetString((await stream.ReadNextAsync())!.Payload.Span));
        await Assert.ThrowsAsync<LogTrimmedException>(() => stream.ReadNextAsync().AsTask());
    }

    [Fact]
    public async Task R5_a_client_that_meets_a_trim_brings_that_to_every_replica_before_answering()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = await FilledAsync(cluster, 4);
        var projection = client.Projection;
        var chain = projection.ChainOf(LogPosition.Zero);
        await cluster.Transport.CallAsync(
            projection.AddressOf(chain.Tail), new TrimPrefixRequest(projection.Epoch, new LogPosition(2)), default);
        Assert.Equal(PageState.Data,
            (await cluster.LookAsync(projection.AddressOf(chain.Head), LogPosition.Zero)).State);
        // The writer knows the position to be committed and may read it at any replica; this one asks the tail.
        Assert.Equal(PageState.Trimmed, (await cluster.Client().ReadManyAsync([LogPosition.Zero]))[0].State);
        Assert.Equal(PageState.Trimmed,
            (await cluster.LookAsync(projection.AddressOf(chain.Head), LogPosition.Zero)).State);
    }

    [Fact]
    public async Task R5_the_mark_outlives_the_epoch_and_an_absent_client_learns_the_mark()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var away = cluster.Client();
        var client = await FilledAsync(cluster, 12);
        await client.TrimPrefixAsync(new LogPosition(7));
        await ReplaceSequencerAsync(cluster, client);
        Assert.Equal(new LogPosition(7), client.Projection.TrimMark);
        Assert.Equal(new LogPosition(7), await away.ReadTrimMarkAsync());
        Assert.Equal(PageState.Trimmed, (await away.ReadManyAsync([new LogPosition(3)]))[0].State);
        var stream = new StreamCursor(away, A);
        await stream.SyncAsync();
        await Assert.ThrowsAsync<LogTrimmedException>(() => stream.ReadNextAsync().AsTask());
    }

    [Fact]
    public async Task Write_below_the_mark_is_refused_and_the_writer_goes_on_above()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var trimmer = await FilledAsync(cluster, 2);
        var writes = 0;
        cluster.Transport.Faults = async (_, request) =>
        {
            // Granted, not yet written, and trimmed by a client that takes the tail for the mark.
            if (request is WriteRequest && ++writes == 1) await trimmer.TrimPrefixAsync(new LogPosition(3));
            return Fault.None;
        };
        var late = await cluster.Client().AppendAsync(Encoding.UTF8.GetBytes("late"), [A]);
        Assert.Equal(AppendOutcome.Unknown, late.Outcome);
        foreach (var unit in cluster.Units)
            Assert.Equal(PageState.Trimmed, (await cluster.LookAsync(unit, late.Position)).State);
        Assert.True((await cluster.Client().AppendAsync(Encoding.UTF8.GetBytes("next"), [A])).IsAppended);
    }

    private static Task ReplaceSequencerAsync(TestCluster cluster, CorfuClient client)
    {
        var sequencer = cluster.AddSequencer();
        return client.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "sequencer");
    }

    [Fact]
    public async Task R13_a_prefix_mark_never_runs_ahead_of_the_replica_that_answers_the_seal()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var other = cluster.Client();

        // A single chain: its second replica is the head of none.
        var projection = await other.Cluster.ReconfigureAsync(
            p => p.Active.Chains.Length == 1 ? null : Membership.Of(p).WithNextChains(cluster.Chains(2, 2)[..1], []),
            "one chain");
        var (head, tail) = (projection.Active.Chains[0].Head, projection.Active.Chains[0].Tail);
        for (var i = 0; i < 3; i++) await other.AppendAsync(Encoding.UTF8.GetBytes($"{i}"), [A]);
        await cluster.Transport.CallAsync(projection.Sequencer, new TokenRequest(projection.Epoch, 10, [], 0), default);

        // A trim up to the tail, above everything written, which the head never hears of.
        cluster.Transport.Faults =
            (to, request) => new(to.Id == head && request is TrimPrefixRequest ? Fault.RequestLost : Fault.None);
        var trimmer = cluster.Client(TestCluster.Options with { OperationTimeout = TimeSpan.FromMilliseconds(100) });
        await Assert.ThrowsAsync<LogUnavailableException>(() => trimmer.TrimPrefixAsync(new LogPosition(13)).AsTask());

        // The next epoch begins where the head says. What it grants must not be trimmed at the other replica already.
        cluster.Transport.Faults =
            (to, request) => new(to.Id == tail && request is SealRequest ? Fault.RequestLost : Fault.None);
        await ReplaceSequencerAsync(cluster, other);
        cluster.Transport.Faults = null;
        for (var i = 0; i < 5; i++)
            Assert.True((await other.AppendAsync(Encoding.UTF8.GetBytes($"{i}"), [A])).IsAppended);
    }

    [Fact]
    public async Task R10_a_tail_of_an_ended_epoch_trims_no_entry_appended_afterwards()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = await FilledAsync(cluster, 3);
        await cluster.Transport.CallAsync(cluster.First.Sequencer, new TokenRequest(Epoch.First, 10, [], 0), default);
        var tail = (await client.CheckAsync([])).Tail;
        Assert.Equal(13, tail.Offset);

        // The next epoch begins at 3, and the one after it above everything.
        await ReplaceSequencerAsync(cluster, client);
        for (var i = 3; i < 20; i++)
            Assert.Equal(i, (await client.AppendAsync(Encoding.UTF8.GetBytes($"{i}"), [A])).Position.Offset);
        await ReplaceSequencerAsync(cluster, client);
        await client.TrimPrefixAsync(tail);
        await client.TrimAsync(new LogPosition(7, Epoch.First));
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 20).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 20; i++) Assert.Equal(i < 3 ? PageState.Trimmed : PageState.Data, read[i].State);
    }

    [Fact]
    public async Task Absent_client_asks_whether_the_epoch_has_ended_before_calling_a_position_too_high()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var away = cluster.Client();
        var client = await FilledAsync(cluster, 3);

        // The old sequencer is not told, and would go on saying 3.
        await ReplaceSequencerAsync(cluster, client);
        for (var i = 3; i < 6; i++) await client.AppendAsync(Encoding.UTF8.GetBytes($"{i}"), [A]);
        Assert.Equal(Epoch.First, away.Projection.Epoch);
        await away.TrimAsync(new LogPosition(4));
        await cluster.Client().TrimPrefixAsync(new LogPosition(6));
        foreach (var unit in cluster.Units)
            Assert.Equal(6,
                (await cluster.Transport.CallAsync(unit, new UnitInfoRequest(default), default)).TrimMark.Offset);
    }
}
