using Corfu.Detection;
using Craq.Agent;
using Craq.Coordination;
using static Craq.Tests.Coordination.Samples;

namespace Craq.Tests.Agent;

public class ChainPolicyTests
{
    private static readonly ChainOptions s_leased = ChainOptions.Default with { Reads = EpochProof.Leased };

    private readonly CraqAgentOptions _options = new();
    private TimeSpan _now = TimeSpan.FromSeconds(100);

    [Fact]
    public void Certain_verdict_removes_at_once()
    {
        var policy = Policy(1, View(Open(3), Active(3)));
        var action = Assert.IsType<ChainAction.RemoveGone>(Assert.Single(Decide(policy, dead: [2])));
        Assert.Equal((Id(2), true), (action.Node, action.IsCertain));
    }

    [Fact]
    public void Silent_member_is_removed_behind_the_pause_of_the_chain()
    {
        var policy = Policy(1, View(Open(3), Active(3)));
        Assert.Empty(Decide(policy, silent: [2]));
        _now += _options.RemovalPause;
        var action = Assert.IsType<ChainAction.RemoveGone>(Assert.Single(Decide(policy, silent: [2])));
        Assert.False(action.IsCertain);
    }

    [Fact]
    public void Successor_that_does_not_answer_is_cut_behind_a_pause()
    {
        var policy = Policy(1, View(Open(3), Active(3)));
        var config = Assert.Single(policy.Own);
        Assert.Null(policy.Cut(config, Id(2), _now));
        _now += _options.CutAfter;
        Assert.Equal(Id(2), Assert.IsType<ChainAction.RemoveGone>(policy.Cut(config, Id(2), _now)).Node);
        _now += _options.CutPause - TimeSpan.FromTicks(1);
        Assert.Null(policy.Cut(config, Id(2), _now));
        _now += TimeSpan.FromTicks(1);
        Assert.NotNull(policy.Cut(config, Id(2), _now));
    }

    [Fact]
    public void Member_is_cut_where_the_chain_cannot_go_on_with_both()
    {
        var later = _now + _options.CutAfter;
        // Nothing goes from the head to the tail of an open chain of three, nor from a member to its predecessor.
        Assert.Null(Cut(1, Open(3), 3));
        Assert.Null(Cut(2, Open(3), 1));
        var unopened = Open(4).Must(Promote(5, 4));
        Assert.NotNull(Cut(1, unopened, 3));
        Assert.Null(Cut(2, unopened, 4));
        // Below the least members nothing is cut.
        Assert.Null(Cut(1, ChainRules.Opened(Open(3).Must(Remove(3))), 2));

        ChainAction? Cut(int self, ChainState chain, int other)
        {
            var policy = Policy(self, View(chain, Active(5)));
            return policy.Cut(policy.Own[0], Id(other), later);
        }
    }

    [Fact]
    public void Member_leaves_where_the_chain_may_not_lose_the_other()
    {
        // Node 2 counts, and node 1 does not.
        var chain = Open(Placement.Sized(new("west", 1), new("east", 1)) with { Master = "east" },
            ChainOptions.Default, Node(1, "west"), Node(2));
        var policy = Policy(1, View(chain, Active(2)));
        Assert.IsType<ChainAction.Leave>(policy.Cut(policy.Own[0], Id(2), _now + _options.CutAfter));
    }

    [Fact]
    public void Later_members_give_the_earlier_members_a_turn()
    {
        var policy = Policy(3, View(Open(3), Active(3)));
        Assert.Empty(Decide(policy, dead: [2]));
        _now += _options.Turn;
        Assert.Single(Decide(policy, dead: [2]));
        // The first member is gone too: it has no turn.
        var other = Policy(3, View(Open(5), Active(5)));
        Assert.Single(Decide(other, dead: [1, 2]));
    }

    [Fact]
    public void Chain_is_never_cut_below_the_least_members()
    {
        var two = ChainRules.Opened(Open(3).Must(Remove(3)));
        Assert.Empty(Decide(Policy(1, View(two, Active(3))), dead: [2]));
    }

    [Fact]
    public void Member_without_a_lease_is_gone_after_a_while()
    {
        var nodes = Active(3).SetItem(Id(2), Node(2, state: DirectoryNodeState.Gone));
        var policy = Policy(1, View(Open(3), nodes));
        Assert.Empty(Decide(policy));
        _now += _options.UnregisteredAfter;
        Assert.Equal(Id(2), Assert.IsType<ChainAction.RemoveGone>(Assert.Single(Decide(policy))).Node);
    }

    [Fact]
    public void Silent_member_of_a_leased_chain_is_evicted_before_removal()
    {
        var chain = Open(Placement.Implicit(1, 3), s_leased, [.. Active(3).Values]);
        Assert.IsType<ChainAction.Evict>(Assert.Single(Decide(Policy(1, View(chain, Active(3))), dead: [2])));
        var gone = Active(3).SetItem(Id(2), Node(2, state: DirectoryNodeState.Gone));
        Assert.IsType<ChainAction.RemoveGone>(Assert.Single(Decide(Policy(1, View(chain, gone)), dead: [2])));
    }

    [Fact]
    public void Node_without_a_lease_makes_no_proposal()
    {
        var nodes = Active(3).SetItem(Id(1), Node(1, state: DirectoryNodeState.Gone));
        Assert.Empty(Decide(Policy(1, View(Open(3), nodes)), dead: [2]));
    }

    [Fact]
    public void Wished_node_learns_repairs_first_and_few_at_once()
    {
        // Four nodes, three replicas: which node is spare depends on the chain.
        var chains = Enumerable.Range(0, 40).Select(number => Chain($"chain {number}", 1, 2, 3)).ToArray();
        var short2 = Chain("short", 1, 2);
        var view = View([.. chains, short2], Active(4));
        var policy = Policy(4, view);
        var wanted = policy.Wanted(_now, []);
        Assert.Equal(_options.MaxMoves, wanted.Length);
        if (PlacementRules.Wish(short2.Placement, short2.Id, Active(4).Values).Any(member => member.Node == Id(4)))
            Assert.True(wanted[0].IsRepair);
        // A chain that is being learnt is gone on with.
        var last = view.Chains.Values.Last(config => PlacementRules.Wish(config.Placement, config.Id, Active(4).Values)
            .Any(member => member.Node == Id(4))).Id;
        Assert.Equal(last, policy.Wanted(_now, [last])[0].Config.Id);
    }

    [Fact]
    public void Node_leaves_when_all_wished_are_members()
    {
        var wish = PlacementRules.Wish(Placement.Implicit(1, 3), Known, Active(4).Values)
            .Select(member => member.Node).ToArray();
        var surplus = Enumerable.Range(1, 4).Single(number => !wish.Contains(Id(number)));
        var full = Open(Placement.Implicit(1, 3), ChainOptions.Default, [.. Active(4).Values]);
        Assert.IsType<ChainAction.Leave>(Assert.Single(Decide(Policy(surplus, View(full, Active(4))))));
        for (var number = 1; number <= 4; number++)
        {
            if (number != surplus) Assert.Empty(Decide(Policy(number, View(full, Active(4)))));
        }

        // Not while the epoch is not open, and not while a wished node is missing.
        var closed = full with { Config = full.Config with { IsRecordedOpen = false } };
        Assert.Empty(Decide(Policy(surplus, View(closed, Active(4)))));
        var missing = Open(Placement.Implicit(1, 3), ChainOptions.Default,
            [.. Active(4).Values.Where(node => node.Id != wish[0])]);
        Assert.Empty(Decide(Policy(surplus, View(missing, Active(4)))));
    }

    [Fact]
    public void Drained_node_leaves_when_the_other_nodes_are_members()
    {
        var nodes = Active(4).SetItem(Id(1), Node(1, state: DirectoryNodeState.Draining));
        var full = Open(Placement.Implicit(1, 3), ChainOptions.Default, [.. Active(4).Values]);
        Assert.IsType<ChainAction.Leave>(Assert.Single(Decide(Policy(1, View(full, nodes)))));
        Assert.Empty(Policy(1, View(full, nodes)).Wanted(_now, []));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Newcomer_is_withdrawn_if_the_epoch_does_not_open(int self)
    {
        var promoted = Open(3, 4).Must(Promote(4, 3));
        var policy = Policy(self, View(promoted, Active(4)));
        _now += _options.OpenLimit - TimeSpan.FromTicks(1) + ((self - 1) * _options.Turn);
        Assert.Empty(Decide(policy));
        _now += TimeSpan.FromTicks(1);
        Assert.Equal(Id(4), Assert.IsType<ChainAction.Withdraw>(Assert.Single(Decide(policy))).Node);
        policy.Observe(View(ChainRules.Opened(promoted), Active(4)) with { Revision = 2 }, _now);
        Assert.Empty(Decide(policy));
    }

    [Fact]
    public void Newcomer_of_a_leased_chain_leaves_by_itself()
    {
        var promoted = Open(Placement.Implicit(1, 4), s_leased, [.. Active(3).Values]).Must(Promote(4, 3));
        var (first, newcomer) =
            (Policy(1, View(promoted, Active(4))), Policy(4, View(promoted, Active(4))));
        _now += _options.OpenLimit + (3 * _options.Turn);
        Assert.Empty(Decide(first));
        Assert.IsType<ChainAction.Leave>(Assert.Single(Decide(newcomer)));
    }

    [Fact]
    public void Restarting_node_stays_wished_for_a_while()
    {
        var wish = PlacementRules.Wish(Placement.Implicit(1, 3), Known, Active(4).Values)
            .Select(member => member.Node).ToArray();
        var spare = Enumerable.Range(1, 4).Single(number => !wish.Contains(Id(number)));
        var chain = Open(Placement.Implicit(1, 3), ChainOptions.Default, [.. wish.Select(id => Active(4)[id])]);
        var nodes = Active(4).SetItem(wish[1], Active(4)[wish[1]] with { State = DirectoryNodeState.Gone });
        var policy = Policy(spare, View(chain, nodes));
        Assert.Empty(policy.Wanted(_now, []));
        _now += _options.ReplaceAfter;
        Assert.Single(policy.Wanted(_now, []));
    }

    [Fact]
    public void Learner_gets_the_place_in_the_wish()
    {
        var wish = PlacementRules.Wish(Placement.Implicit(1, 4), Known, Active(4).Values)
            .Select(member => member.Node).ToArray();
        for (var place = 0; place < 4; place++)
        {
            var others = wish.Where(id => id != wish[place]).Select(id => Active(4)[id]).ToArray();
            var chain = Open(Placement.Implicit(1, 4), ChainOptions.Default, others);
            var policy = new ChainPolicy(wish[place], _options);
            policy.Observe(View(chain, Active(4)), _now);
            Assert.Equal(place, policy.IndexFor(chain.Config, _now));
        }
    }

    [Fact]
    public void Peers_are_the_nodes_of_common_chains()
    {
        var policy = Policy(2, View([Chain("a", 1, 2, 3), Chain("b", 3, 4, 5)], Active(6)));
        Assert.Equal(Ids(3, 1), policy.Peers().Select(peer => peer.Id));
    }

    private static ChainConfig Chain(string name, params int[] members) => ChainRules.Opened(ChainRules.Create(
        ChainId.FromName(name), name, Placement.Implicit(1, 3), ChainOptions.Default,
        [.. members.Select(number => new ChainMember(Id(number), "east"))]).State!).Config;

    private static DirectoryView View(ChainState chain, ImmutableSortedDictionary<NodeId, DirectoryNode> nodes) =>
        View([chain.Config], nodes);

    private static DirectoryView View(
        ImmutableArray<ChainConfig> chains, ImmutableSortedDictionary<NodeId, DirectoryNode> nodes) =>
        DirectoryView.Empty with
        {
            Revision = 1,
            Chains = chains.ToImmutableSortedDictionary(chain => chain.Id, chain => chain),
            Nodes = nodes,
        };

    private ChainPolicy Policy(int self, DirectoryView view)
    {
        var policy = new ChainPolicy(Id(self), _options);
        policy.Observe(view, _now);
        return policy;
    }

    private List<ChainAction> Decide(ChainPolicy policy, int[]? dead = null, int[]? silent = null) =>
        policy.Decide(_now, node => new NodeVerdict(
            dead?.Any(number => Id(number) == node) == true ? NodeHealth.Dead
            : silent?.Any(number => Id(number) == node) == true ? NodeHealth.Silent : NodeHealth.Alive,
            TimeSpan.Zero, 0));
}
