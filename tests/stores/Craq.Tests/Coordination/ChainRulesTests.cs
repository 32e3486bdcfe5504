using Craq.Coordination;
using static Craq.Tests.Coordination.Samples;

namespace Craq.Tests.Coordination;

public class ChainRulesTests
{
    [Fact]
    public void Change_of_another_epoch_is_refused()
    {
        var state = Open(3);
        var ruling = ChainRules.Change(state, new Epoch(2), Remove(1), Active(3));
        Assert.Contains("the chain is at e1", ruling.Refusal, StringComparison.Ordinal);
        Assert.Same(state, ruling.State);
    }

    [Fact]
    public void Every_change_makes_the_next_epoch_not_open()
    {
        foreach (var change in new ChainChange[]
        {
            Remove(2), Promote(4, 1), new ChainChange.Reorder(Ids(3, 1, 2)), new ChainChange.Renew(),
            new ChainChange.SetOptions(Placement.Implicit(1, 5), ChainOptions.Default),
        })
        {
            var next = Open(3).Must(change);
            Assert.Equal(new Epoch(2), next.Config.Epoch);
            Assert.False(next.Config.IsRecordedOpen);
        }
    }

    [Fact]
    public void Chain_is_unopened_until_an_epoch_is_recorded_open()
    {
        var state = ChainRules.Create(Known, "chain", Placement.Implicit(1, 3), ChainOptions.Default,
            [.. Open(3).Config.Members]).State!;
        Assert.True(state.Config.IsUnopened);
        Assert.True(state.Must(Remove(2)).Config.IsUnopened);
        var open = ChainRules.Opened(state);
        Assert.False(open.Config.IsUnopened);
        Assert.False(open.Must(Remove(2)).Config.IsUnopened);
    }

    [Fact]
    public void Promoted_node_is_the_newcomer_until_a_removal_or_an_open_epoch()
    {
        var promoted = Open(3).Must(Promote(4, 1));
        Assert.Equal(Id(4), promoted.Config.Newcomer);
        Assert.Equal(Id(4), promoted.Must(Remove(2)).Config.Newcomer);
        Assert.True(promoted.Must(Remove(4)).Config.Newcomer.IsNone);
        Assert.True(ChainRules.Opened(promoted).Config.Newcomer.IsNone);
    }

    [Fact]
    public void Change_behind_the_last_epoch_is_refused()
    {
        var open = Open(3);
        var last = open with { Config = open.Config with { Epoch = new Epoch(ObjectVersion.MaxEpoch) } };
        Assert.Contains("no epochs left", last.MustNot(new ChainChange.Renew()), StringComparison.Ordinal);
    }

    [Fact]
    public void Promotion_takes_the_named_place() =>
        Assert.Equal(Ids(1, 4, 2, 3), Open(3).Must(Promote(4, 1)).Members());

    [Fact]
    public void Promotion_of_a_member_is_refused() => Open(3).MustNot(Promote(3, 0));

    [Fact]
    public void Promotion_without_a_place_is_refused()
    {
        Open(3).MustNot(Promote(4, 4));
        Open(3).MustNot(Promote(4, -1));
    }

    [Fact]
    public void Promotion_of_a_node_without_a_lease_is_refused()
    {
        Open(3).MustNot(Promote(4, 0), Active(3));
        Open(3).MustNot(Promote(4, 0), Nodes(Node(4, state: DirectoryNodeState.Gone)));
        Open(3).MustNot(Promote(4, 0), Nodes(Node(4, state: DirectoryNodeState.Draining)));
    }

    [Fact]
    public void Chain_of_the_most_members_takes_no_other()
    {
        var state = Open(64);
        Assert.Contains("64 members", state.MustNot(Promote(65, 0), Active(65)), StringComparison.Ordinal);
    }

    [Fact]
    public void Config_that_is_not_recorded_open_takes_removals_alone()
    {
        var state = Open(4, 5).Must(Promote(5, 0));
        Assert.Contains("not recorded open", state.MustNot(Promote(6, 0)), StringComparison.Ordinal);
        state.MustNot(new ChainChange.Reorder(Ids(1, 2, 3, 4, 5)));
        state.MustNot(new ChainChange.Renew());
        state.MustNot(new ChainChange.SetOptions(Placement.Default, ChainOptions.Default));
        Assert.Equal(Ids(5, 1, 2, 3), state.Must(Remove(4)).Members());
    }

    [Fact]
    public void Removals_keep_the_least_members_of_the_base()
    {
        // Execution 4 of the design: J is promoted and not opened, then X removed.
        var state = Open(2, 3);
        Assert.Equal(2, state.Config.Kept);
        var grown = state.Must(Promote(3, 2));
        grown.MustNot(Remove(1));
        grown.MustNot(Remove(2));
        Assert.Equal(Ids(1, 2), grown.Must(Remove(3)).Members());
        var opened = ChainRules.Opened(grown);
        Assert.Equal(Ids(2, 3), opened.Must(Remove(1)).Members());
    }

    [Fact]
    public void Removals_in_a_row_count_by_the_same_base()
    {
        var state = Open(5).Must(Remove(1));
        Assert.Equal(5, state.Config.Base.Length);
        state = state.Must(Remove(2));
        Assert.Equal(Ids(3, 4, 5), state.Members());
        state.MustNot(Remove(3));
        // Opened with three of five: the least is still the majority of the whole size.
        ChainRules.Opened(state).MustNot(Remove(3));
    }

    [Fact]
    public void Removal_of_several_is_one_epoch()
    {
        var state = Open(5).Must(Remove(1, 5));
        Assert.Equal(new Epoch(2), state.Config.Epoch);
        Assert.Equal(Ids(2, 3, 4), state.Members());
    }

    [Fact]
    public void Lower_minimum_counts_from_the_epoch_that_is_recorded_open()
    {
        var lower = new ChainChange.SetOptions(Placement.Implicit(1, 3) with { MinMembers = 1 }, ChainOptions.Default);
        var state = Open(3).Must(lower);
        Assert.Equal(2, state.Config.Kept);
        state.MustNot(Remove(1, 2));
        Assert.Equal(Ids(3), ChainRules.Opened(state).Must(Remove(1, 2)).Members());
    }

    [Fact]
    public void Higher_minimum_counts_from_the_epoch_that_is_recorded_open()
    {
        var low = Open(Placement.Implicit(1, 3) with { MinMembers = 1 }, ChainOptions.Default, [.. Active(3).Values]);
        var state = low.Must(new ChainChange.SetOptions(Placement.Implicit(1, 3), ChainOptions.Default));
        Assert.Equal(1, state.Config.Kept);
        ChainRules.Opened(state).MustNot(Remove(1, 2));
    }

    [Fact]
    public void Chain_of_all_nodes_keeps_the_majority_of_the_members()
    {
        var state = Open(Placement.Implicit(1, 0), ChainOptions.Default, [.. Active(5).Values]);
        Assert.Equal(3, state.Config.Kept);
        state = ChainRules.Opened(state.Must(Remove(1, 2)));
        Assert.Equal(2, state.Config.Kept);
        Assert.Equal(Ids(4, 5), state.Must(Remove(3)).Members());
    }

    [Fact]
    public void Members_outside_the_master_datacenter_do_not_count()
    {
        var placement = Placement.Explicit(2, "east", "west") with { Master = "west", MinMembers = 1 };
        var nodes = new[] { Node(1), Node(2), Node(3, "west"), Node(4, "west") };
        var state = Open(placement, ChainOptions.Default, nodes);
        Assert.Equal(Ids(3, 4), state.Config.Base.Select(member => member.Node));
        Assert.Equal(Ids(4), state.Must(Remove(1, 2, 3), Nodes(nodes)).Members());
        state.MustNot(Remove(3, 4), Nodes(nodes));
    }

    [Fact]
    public void Options_with_a_master_without_members_are_refused()
    {
        var placement = Placement.Implicit(2, 2) with { Master = "west" };
        Open(3).MustNot(new ChainChange.SetOptions(placement, ChainOptions.Default));
    }

    [Fact]
    public void Removal_of_the_last_member_is_refused()
    {
        Open(1).MustNot(Remove(1));
        Open(1).MustNot(Destroyed(1), Active(0));
    }

    [Fact]
    public void Removal_of_a_node_that_is_no_member_is_refused()
    {
        Open(3).MustNot(Remove(4));
        Open(3).MustNot(Remove());
    }

    [Fact]
    public void Chain_without_a_base_changes_only_where_an_operator_names_the_destroyed()
    {
        // Nodes 1 to 3 are the base; 4 is promoted, and the epoch does not open.
        var state = Open(3, 3).Must(Promote(4, 3));
        var left = Nodes(Node(4));
        state.MustNot(Remove(1, 2, 3), left);
        var rest = state.Must(Destroyed(1, 2, 3), left);
        Assert.Equal(Ids(4), rest.Members());
        Assert.Equal(Ids(4), rest.Config.Base.Select(member => member.Node));
        Assert.Equal(1, rest.Config.Kept);
    }

    [Fact]
    public void Node_with_a_lease_is_not_destroyed()
    {
        Assert.Contains("stop it first", Open(3).MustNot(Destroyed(1, 2)), StringComparison.Ordinal);
        Open(3).Must(Destroyed(1, 2), Nodes(Node(3), Node(1, state: DirectoryNodeState.Gone)));
    }

    [Fact]
    public void Member_of_a_leased_chain_is_removed_behind_the_lease_or_the_release()
    {
        var leased = ChainOptions.Default with { Reads = EpochProof.Leased };
        var state = Open(Placement.Implicit(1, 3), leased, [.. Active(3).Values]);
        Assert.Contains("lease", state.MustNot(Remove(1)), StringComparison.Ordinal);
        state.Must(Remove(1), Nodes(Node(1, state: DirectoryNodeState.Gone), Node(2), Node(3)));
        var released = ChainRules.Release(state, Id(1));
        Assert.Equal(Ids(2, 3), released.Must(Remove(1)).Members());
        // A release is for one epoch: in the next one the member may serve by its lease again.
        var next = ChainRules.Opened(released.Must(new ChainChange.Reorder(Ids(3, 2, 1))));
        next.MustNot(Remove(1));
    }

    [Fact]
    public void Leases_are_waited_for_until_an_epoch_without_leases_is_recorded_open()
    {
        var leased = ChainOptions.Default with { Reads = EpochProof.Leased };
        var state = Open(Placement.Implicit(1, 3), leased, [.. Active(3).Values])
            .Must(new ChainChange.SetOptions(Placement.Implicit(1, 3), ChainOptions.Default));
        state.MustNot(Remove(1));
        Assert.Equal(Ids(2, 3), ChainRules.Opened(state).Must(Remove(1)).Members());
    }

    [Fact]
    public void Reorder_names_each_member_once()
    {
        Assert.Equal(Ids(3, 1, 2), Open(3).Must(new ChainChange.Reorder(Ids(3, 1, 2))).Members());
        Open(3).MustNot(new ChainChange.Reorder(Ids(1, 2)));
        Open(3).MustNot(new ChainChange.Reorder(Ids(1, 2, 2)));
        Open(3).MustNot(new ChainChange.Reorder(Ids(1, 2, 4)));
    }

    [Fact]
    public void New_chain_needs_the_least_members_of_the_placement()
    {
        var one = ImmutableArray.Create(new ChainMember(Id(1), "east"));
        var (state, refusal) = ChainRules.Create(Known, "chain", Placement.Default, ChainOptions.Default, one);
        Assert.Null(state);
        Assert.Contains("needs 2 nodes", refusal, StringComparison.Ordinal);
    }
}
