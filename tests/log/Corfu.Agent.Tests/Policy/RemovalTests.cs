using Corfu.Agent;
using Corfu.Protocol;

namespace Corfu.Agent.Tests.Policy;

/// <summary>When a removed unit may take another identity (R2), and when its old data may go.</summary>
public sealed class RemovalTests
{
    private static readonly NodeAddress[] s_units =
        [.. Enumerable.Range(0, 5)
            .Select(i => new NodeAddress(new NodeId(Guid.NewGuid()), new NodeEndpoint("127.0.0.1", 7000 + i)))];
    private static readonly NodeAddress s_sequencer =
        new(new NodeId(Guid.NewGuid()), new NodeEndpoint("127.0.0.1", 6999));

    [Fact]
    public void Identity_is_removed_only_by_a_later_decided_projection_without_that()
    {
        var before = Make(1, [0, 1], [1, 2]);
        var after = Make(2, [1, 2]);
        Assert.True(Removal.IsFinal(s_units[0].Id, before.Epoch, after));
        Assert.False(Removal.IsFinal(s_units[1].Id, before.Epoch, after));
        // A spare was never named; an agent that lags behind knows an older projection.
        Assert.False(Removal.IsFinal(s_units[4].Id, Epoch.None, after));
        Assert.False(Removal.IsFinal(s_units[4].Id, new Epoch(3), after));
    }

    [Fact]
    public void Data_is_redundant_once_every_chain_has_all_full_replicas_again()
    {
        var first = Make(1, [0, 1], [1, 2], [2, 0]);
        var without = Make(2, [1], [1, 2], [2]);
        var rebuilt = Make(3, [1, 3], [1, 2], [2, 3]);
        Assert.False(Removal.IsRedundant([first, without]));
        Assert.True(Removal.IsRedundant([first, without, rebuilt]));
    }

    [Fact]
    public void Data_is_never_redundant_after_an_override_with_any_number_of_replicas()
    {
        var first = Make(1, [0, 1]);
        var overridden = Make(2, [3, 4]);
        Assert.False(Removal.IsRedundant([first, overridden]));
    }

    private static Projection Make(int epoch, params int[][] chains) => new(
        new ClusterId(Guid.NewGuid()), new Epoch(epoch), s_sequencer, new LogPosition(0, new Epoch(epoch)),
        LogPosition.Zero,
        [new Segment(LogPosition.Zero, null,
            [.. chains.Select(c => new Chain([.. c.Select(u => new Replica(s_units[u].Id))]))])],
        [.. chains.SelectMany(c => c).Distinct().Select(u => s_units[u]).OrderBy(u => u.Id)], [s_units[1]], "test");
}
