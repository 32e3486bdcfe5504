using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

public class ReadTests
{
    private static readonly StreamId A = StreamId.FromName("a");
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(20);

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static string Text(LogReadResult result) => Encoding.UTF8.GetString(result.Entry!.Payload.Span);

    [Fact]
    public async Task R11_a_position_that_an_append_returned_is_read_at_any_replica()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        var append = await client.AppendAsync(Bytes("0"), [A]);
        var chain = client.Projection.ChainOf(append.Position);
        cluster.Transport.Stop(chain.Tail);
        Assert.Equal("0", Text((await client.ReadManyAsync([append.Position]))[0]));
    }

    [Fact]
    public async Task R11_a_position_not_known_committed_is_read_at_the_tail()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var append = await cluster.Client().AppendAsync(Bytes("0"), [A]);
        var chain = cluster.First.ChainOf(append.Position);
        cluster.Transport.Stop(chain.Tail);
        var reader = cluster.Client(TestCluster.Options with { OperationTimeout = TimeSpan.FromMilliseconds(100) });
        await Assert.ThrowsAsync<LogUnavailableException>(() => reader.ReadManyAsync([append.Position]).AsTask());
    }

    [Fact]
    public async Task A_stopped_replica_is_left_for_another_one()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        var positions = new List<LogPosition>();
        for (var i = 0; i < 16; i++) positions.Add((await client.AppendAsync(Bytes($"{i}"), [A])).Position);
        var stopped = cluster.Units[0];
        var never = new TaskCompletionSource();
        cluster.Transport.Faults = async (to, request) =>
        {
            if (to == stopped && request is ReadRequest) await never.Task;
            return Fault.None;
        };
        var read = await client.ReadManyAsync([.. positions]).AsTask().WaitAsync(Long);
        Assert.Equal(Enumerable.Range(0, 16).Select(i => $"{i}"), read.Select(Text));
        never.SetResult();
    }

    [Fact]
    public async Task R11_an_entry_at_the_head_that_the_tail_lacks_is_not_shown()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (dying, reader) = (cluster.Client(), cluster.Client());
        var chain = cluster.First.ChainOf(LogPosition.Zero);
        var lost = 0;
        cluster.Transport.Faults = (to, request) => new(
            to.Id == chain.Tail
            && (request is WriteRequest || (request is ReadRequest { Detail: ReadDetail.Full } && lost++ == 0))
                ? Fault.RequestLost
                : Fault.None);
        var append = dying.AppendAsync(Bytes("half"), [A]).AsTask();

        // The tail fails once, and is asked again: the head alone has the page, and observing must not show it.
        Assert.Equal(PageState.Unwritten,
            (await reader.ReadManyAsync([LogPosition.Zero], mode: ReadMode.Observe))[0].State);
        cluster.Transport.Faults = null;
        Assert.True((await append).IsAppended);
    }

    [Fact]
    public async Task A_damaged_page_is_served_from_another_replica_and_given_back()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var append = await cluster.Client().AppendAsync(Bytes("0"), [A]);
        var damage = new Damage();
        damage.Add(cluster.Units[2], append.Position);
        cluster.Transport.Rewrite = damage.Rewrite;
        Assert.Equal("0", Text((await cluster.Client().ReadManyAsync([append.Position]))[0]));
        await damage.Healed.WaitAsync(Long);
    }

    [Fact]
    public async Task R11_a_committed_page_that_a_replica_lost_is_served_from_another_one_and_given_back()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        var positions = new List<LogPosition>();
        for (var i = 0; i < 16; i++) positions.Add((await client.AppendAsync(Bytes($"{i}"), [A])).Position);
        var damage = new Damage();

        // Each chain's head: what stands behind a good copy in chain order may just not have arrived there.
        foreach (var position in positions.Where(p => p.Offset % 2 == 0))
            damage.Add(cluster.Units[0], position, PageState.Unwritten);
        cluster.Transport.Rewrite = damage.Rewrite;
        while (!damage.Healed.IsCompleted)
        {
            var read = await client.ReadManyAsync([.. positions]);
            Assert.Equal(Enumerable.Range(0, 16).Select(i => $"{i}"), read.Select(Text));
            if ((await client.Cluster.AuditReplicasAsync(LogPosition.Zero, 16)).Sound == 16) break;
        }

        await damage.Healed.WaitAsync(Long);
    }

    [Fact]
    public async Task R11_a_committed_page_that_all_replicas_lost_is_an_error_and_never_filled()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        var position = (await client.AppendAsync(Bytes("0"), [A])).Position;
        var damage = new Damage();
        foreach (var unit in cluster.Units) damage.Add(unit, position, PageState.Unwritten);
        cluster.Transport.Rewrite = damage.Rewrite;
        cluster.Transport.Trace = new();
        var thrown = await Assert.ThrowsAsync<DataLossException>(() => client.ReadManyAsync([position]).AsTask());
        Assert.Equal(position, thrown.Position);
        Assert.DoesNotContain(cluster.Transport.Trace, t => t.Request is FillRequest);
    }

    [Fact]
    public async Task Audit_finds_and_mends_damage_that_no_reader_met()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = cluster.Client();
        for (var i = 0; i < 9; i++) await client.AppendAsync(Bytes($"{i}"), [A]);
        await client.TrimPrefixAsync(new LogPosition(2));
        var damage = new Damage();
        damage.Add(cluster.Units[0], new LogPosition(4));
        damage.Add(cluster.Units[1], new LogPosition(5));
        damage.Add(cluster.Units[0], new LogPosition(6), PageState.Unwritten);
        foreach (var unit in cluster.Units) damage.Add(unit, new LogPosition(7));
        cluster.Transport.Rewrite = damage.Rewrite;
        var audit = await client.Cluster.AuditReplicasAsync(LogPosition.Zero, 12);
        Assert.Equal((2, 3, 3, 3), (audit.Trimmed, audit.Sound, audit.Mended, audit.Undecided));
        Assert.Equal([new LogPosition(7)], audit.Unrecoverable);
        Assert.Empty(audit.Diverged);
        Assert.Equal(6, (await client.Cluster.AuditReplicasAsync(LogPosition.Zero, 12)).Sound);
    }

    /// <summary>Found by the simulator: what only a damaged head has was never acknowledged, so that nothing is
    /// lost.</summary>
    [Fact]
    public async Task Audit_takes_an_entry_that_only_a_damaged_head_has_for_an_append_under_way()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = cluster.Client();
        var position = (await client.AppendAsync(Bytes("0"), [A])).Position;
        var chain = cluster.First.ChainOf(position);
        var damage = new Damage();
        foreach (var replica in chain.Replicas)
            damage.Add(cluster.First.AddressOf(replica.Unit), position,
                replica.Unit == chain.Head ? PageState.Corrupt : PageState.Unwritten);
        cluster.Transport.Rewrite = damage.Rewrite;
        var audit = await client.Cluster.AuditReplicasAsync(LogPosition.Zero, 1);
        Assert.Empty(audit.Unrecoverable);
        Assert.Equal(1, audit.Undecided);
    }
}
