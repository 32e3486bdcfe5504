using System.Text;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Tango.Testing;

namespace Corfu.Client.Tests;

/// <summary>R9, R10: appends that are resolved later, by other clients, or with less than they returned.</summary>
public class ResolveTests
{
    private static readonly StreamId A = StreamId.FromName("a");
    private static readonly EntryOrigin Foreign = new(new WriterId(new Guid(7, 0, 0, new byte[8])), 7);

    private static AppendResult Unknown(LogPosition position, EntryOrigin origin) =>
        new(AppendOutcome.Unknown, position, origin);

    /// <summary>Filled, a position far above the tail makes the next epoch begin there.</summary>
    [Fact]
    public async Task Resolve_of_a_position_that_was_not_granted_writes_no_page()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var last = await AppendAsync(client, 3);
        var fills = 0;
        cluster.Transport.Faults = (_, request) =>
        {
            if (request is FillRequest) Interlocked.Increment(ref fills);
            return new(Fault.None);
        };
        var far = last.Position + 1_000_000;
        await Assert.ThrowsAsync<PositionNotGrantedException>(
            async () => await client.ResolveAsync(Unknown(far, Foreign)));
        Assert.Equal(AppendOutcome.NotAppended,
            await client.ResolveAsync(Unknown(new LogPosition(far.Offset), Foreign)));
        Assert.Equal(AppendOutcome.Unknown,
            await client.ResolveAsync(Unknown(new LogPosition(far.Offset, far.Epoch.Next), Foreign)));

        var sequencer = cluster.AddSequencer();
        await client.Cluster.ReconfigureAsync(
            p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer), "sequencer");
        Assert.Equal(AppendOutcome.NotAppended, await client.ResolveAsync(Unknown(far, Foreign)));
        Assert.Equal(0, fills);
        Assert.Equal(last.Position.Offset + 1, (await client.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Resolve_without_an_epoch_finds_the_entry()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var last = await AppendAsync(client, 3);
        var bare = Unknown(new LogPosition(last.Position.Offset), last.Origin);
        Assert.Equal(AppendOutcome.Appended, await client.ResolveAsync(bare));
        Assert.Equal(AppendOutcome.NotAppended, await client.ResolveAsync(bare with { Origin = Foreign }));
    }

    [Fact]
    public async Task Resolve_without_an_epoch_closes_a_granted_position()
    {
        await using var cluster = await TestCluster.StartAsync(3, 2);
        var client = cluster.Client();
        var hole = (await cluster.Transport.CallAsync(
            cluster.First.Sequencer, new TokenRequest(cluster.First.Epoch, 1, [A]), default)).First;
        Assert.Equal(AppendOutcome.NotAppended,
            await client.ResolveAsync(Unknown(new LogPosition(hole.Offset), Foreign)));
        Assert.Equal(PageState.Junk, (await client.ReadManyAsync([hole], mode: ReadMode.Observe))[0].State);
    }

    [Fact]
    public async Task Resolve_in_memory_answers_as_the_cluster_does()
    {
        var log = new InMemoryCorfuLog();
        var last = await AppendAsync(log, 3);
        var far = last.Position + 1_000_000;
        Assert.Equal(AppendOutcome.Appended,
            await log.ResolveAsync(Unknown(new LogPosition(last.Position.Offset), last.Origin)));
        await Assert.ThrowsAsync<PositionNotGrantedException>(
            async () => await log.ResolveAsync(Unknown(far, Foreign)));
        Assert.Equal(AppendOutcome.NotAppended, await log.ResolveAsync(Unknown(new LogPosition(far.Offset), Foreign)));
        Assert.Equal(AppendOutcome.Unknown,
            await log.ResolveAsync(Unknown(new LogPosition(far.Offset, far.Epoch.Next), Foreign)));
        Assert.Equal(3, (await log.CheckAsync([])).Tail.Offset);
    }

    private static async Task<AppendResult> AppendAsync(ICorfuLog log, int count)
    {
        AppendResult last = default;
        for (var i = 0; i < count; i++) last = await log.AppendAsync(Encoding.UTF8.GetBytes($"{i}"), [A]);
        return last;
    }
}
