using System.Text;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

/// <summary>Claims of the papers about clients, units and sequencers that fail.</summary>
public partial class PaperTests
{
    /// <summary>TOCS 2.4: "a consensus solution that tolerates f failures with just f+1 replicas".</summary>
    [Fact]
    public async Task Tocs24_f_failures_are_survived_with_f_plus_one_replicas()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = await AppendedAsync(cluster, 9);
        foreach (var dead in cluster.Units.Take(2))
        {
            cluster.Transport.Stop(dead.Id);
            await client.Cluster.ReconfigureAsync(p => p.HasUnit(dead.Id) ? Membership.Of(p).Without(dead.Id) : null,
                "it is dead");
        }

        await AppendedAsync(cluster, 3, client);
        var read = await cluster.Client().ReadManyAsync([.. Enumerable.Range(0, 12).Select(i => new LogPosition(i))]);
        Assert.All(read, r => Assert.True(r.IsData));
    }

    /// <summary>TOCS 2.4: "if the first unit of the chain is unwritten, the client writes the junk value to all the
    /// replicas in chain order".</summary>
    [Fact]
    public async Task Tocs24_an_empty_position_is_filled_in_chain_order()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = cluster.Client();
        var projection = client.Projection;
        var hole =
            (await cluster.Transport.CallAsync(projection.Sequencer, new TokenRequest(projection.Epoch, 1, []),
                default)).First;
        cluster.Transport.Trace = new();
        Assert.Equal(PageState.Junk, (await client.FillAsync(hole)).State);
        var fills = cluster.Transport.Trace.Where(t => t.Request is FillRequest or CompleteRequest)
            .Select(t => t.To.Id);
        Assert.Equal(projection.Active.ChainOf(hole).Replicas.Select(r => r.Unit), fills);
    }

    /// <summary>
    /// TOCS 2.4: "the client walks down the chain to find the first unwritten replica, and then 'completes' the append
    /// by copying over the value to the remaining unwritten replicas in chain order" (Fig. 4, FILL: "on err_written:
    /// set f to page data").
    /// </summary>
    [Fact]
    public async Task Tocs24_a_half_written_entry_is_copied_down_the_chain()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = cluster.Client();
        await HalfWriteAsync(cluster, replicas: 1);
        cluster.Transport.Trace = new();
        var filled = await client.FillAsync(LogPosition.Zero);
        Assert.Equal("half", Encoding.UTF8.GetString(filled.Entry!.Payload.Span));
        var chain = client.Projection.Active.ChainOf(LogPosition.Zero).Replicas.Select(r => r.Unit).ToList();
        var copied = cluster.Transport.Trace.Where(t => t.Request is CompleteRequest).Select(t => t.To.Id).ToList();
        Assert.Equal(chain.Skip(1), copied);
        foreach (var unit in cluster.Units)
            Assert.Equal(PageState.Data, (await cluster.LookAsync(unit, LogPosition.Zero)).State);
    }

    /// <summary>
    /// TOCS 2.5: "we always err on the conservative side, and include any entry that is filled in all surviving storage
    /// units": here the tail is lost, and "we won't know if entries have been successfully mirrored or not, but we
    /// would have to assume that they might have been".
    /// </summary>
    [Fact]
    public async Task Tocs25_an_entry_that_all_survivors_hold_is_kept_even_if_never_acknowledged()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = cluster.Client();
        await HalfWriteAsync(cluster, replicas: 1);
        var tail = cluster.Units[1];
        cluster.Transport.Stop(tail.Id);
        var projection =
            await client.Cluster.ReconfigureAsync(p => p.HasUnit(tail.Id) ? Membership.Of(p).Without(tail.Id) : null,
                "F7 fails");
        Assert.Equal(1, projection.Start.Offset);
        Assert.Equal("half",
            Encoding.UTF8.GetString((await client.ReadManyAsync([LogPosition.Zero]))[0].Entry!.Payload.Span));
    }

    /// <summary>TOCS 2.5: "storage units not affected by the reconfiguration need not be sealed".</summary>
    [Fact]
    public async Task Tocs25_units_of_closed_ranges_that_do_not_change_are_not_sealed()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var client = await AppendedAsync(cluster, 6);
        var added = new[] { await cluster.AddUnitAsync(), await cluster.AddUnitAsync() };
        var chain = new Chain([.. added.Select(a => new Replica(a.Id))]);
        await client.Cluster.ReconfigureAsync(
            p => p.HasUnit(added[0].Id) ? null : Membership.Of(p).WithNextChains([chain], [.. added]), "Fig. 5 (D)");
        await AppendedAsync(cluster, 6, client);
        cluster.Transport.Trace = new();
        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "test");
        var @sealed = cluster.Transport.Trace.Where(t => t.Request is SealRequest).Select(t => t.To.Id).Distinct();
        Assert.Equal(added.Select(a => a.Id).Order(), @sealed.Order());
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, 12).Select(i => new LogPosition(i))]);
        Assert.All(read, r => Assert.True(r.IsData));
    }

    /// <summary>TOCS 2.5: "We reject any client messages with obsolete epochs, writes as well as reads"; NSDI 3.2.1:
    /// who is rejected learns the new projection.</summary>
    [Fact]
    public async Task Tocs25_a_read_of_a_sealed_epoch_is_rejected_and_the_reader_moves_on()
    {
        await using var cluster = await TestCluster.StartAsync(2, 2);
        var (old, other) = (cluster.Client(), cluster.Client());
        await AppendedAsync(cluster, 3, old);
        var sequencer = cluster.AddSequencer();
        await other.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "test");
        var unit = cluster.Units[0];
        var rejected = await cluster.Transport.CallAsync(unit,
            new ReadRequest(Epoch.First, [LogPosition.Zero], ReadDetail.Full), default);
        Assert.Equal(Status.Sealed, rejected.Status);
        Assert.Empty(rejected.Pages);
        Assert.True((await old.ReadManyAsync([LogPosition.Zero]))[0].IsData);
        Assert.Equal(new Epoch(2), old.Projection.Epoch);
    }

    /// <summary>TOCS 2.3: the sequencer "is merely an optimization ... and is not required for either safety or
    /// progress".</summary>
    [Fact]
    public async Task Tocs23_without_a_sequencer_the_log_is_read_and_checked_and_another_one_goes_on()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = await AppendedAsync(cluster, 7);
        cluster.Transport.Stop(client.Projection.Sequencer.Id);
        Assert.Equal(7, (await client.CheckAsync([])).Tail.Offset);
        Assert.All(await client.ReadManyAsync([.. Enumerable.Range(0, 7).Select(i => new LogPosition(i))]),
            r => Assert.True(r.IsData));
        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer),
            "it is dead");
        Assert.Equal(7, (await client.AppendAsync(Bytes("x"), [])).Position.Offset);
    }

    /// <summary>TOCS 2.4: a reader that "already knows that the log position has been successfully written to ... can
    /// go to any replica in the chain".</summary>
    [Fact]
    public async Task Tocs24_a_position_known_to_be_written_is_read_at_any_one_replica()
    {
        await using var cluster = await TestCluster.StartAsync(3, 3);
        var client = await AppendedAsync(cluster, 3);
        for (var left = 0; left < 3; left++)
        {
            var only = cluster.Units[left];
            cluster.Transport.Faults =
                (to, request) => new(request is ReadRequest && to.Id != only.Id ? Fault.Refused : Fault.None);
            Assert.All(await client.ReadManyAsync([.. Enumerable.Range(0, 3).Select(i => new LogPosition(i))]),
                r => Assert.True(r.IsData));
        }
    }

    // A writer that dies on its way down the chain: its entry is at so many replicas.
    private static async Task HalfWriteAsync(TestCluster cluster, int replicas)
    {
        var dying = cluster.Client();
        var projection = dying.Projection;
        var position =
            (await cluster.Transport.CallAsync(projection.Sequencer, new TokenRequest(projection.Epoch, 1, []),
                default)).First;
        var entry = EntryCodec.Encode(new LogEntry(
            new LogPosition(position.Offset, projection.Epoch),
            new EntryOrigin(new WriterId(new Guid(7, 7, 7, [7, 7, 7, 7, 7, 7, 7, 7])), 1), EntryKind.Data,
            DateTimeOffset.UnixEpoch, [], Bytes("half")));
        foreach (var replica in projection.Active.ChainOf(position).Replicas.Take(replicas))
        {
            var unit = projection.Units.Single(u => u.Id == replica.Unit);
            Assert.Equal(Status.Ok,
                (await cluster.Transport.CallAsync(unit, new WriteRequest(projection.Epoch, entry), default)).Status);
        }
    }
}
