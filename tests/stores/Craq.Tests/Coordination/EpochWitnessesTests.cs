using Craq.Coordination;
using static Craq.Tests.Coordination.Samples;

namespace Craq.Tests.Coordination;

public class EpochWitnessesTests
{
    [Fact]
    public void Single_node_needs_no_witness() => Assert.True(EpochWitnesses.Of(Open(1).Config, Id(1)).AreEnough(0));

    [Fact]
    public void Reader_of_three_needs_one_of_the_other_two()
    {
        var witnesses = EpochWitnesses.Of(Open(3).Config, Id(1));
        Assert.False(witnesses.AreEnough(0b001));
        Assert.True(witnesses.AreEnough(0b010));
        Assert.True(witnesses.AreEnough(0b100));
    }

    [Fact]
    public void Reader_of_a_chain_at_the_least_members_needs_no_witness() =>
        Assert.True(EpochWitnesses.Of(ChainRules.Opened(Open(3).Must(Remove(3))).Config, Id(1)).AreEnough(0));

    [Fact]
    public void Reader_outside_the_master_datacenter_needs_the_members_inside()
    {
        var placement = Placement.Explicit(2, "east", "west") with { Master = "west", MinMembers = 1 };
        var open = Open(placement, ChainOptions.Default, Node(1), Node(2), Node(3, "west"), Node(4, "west"));
        var witnesses = EpochWitnesses.Of(open.Config, Id(1));
        Assert.False(witnesses.AreEnough(0b0111));
        Assert.True(witnesses.AreEnough(0b1100));
        Assert.True(EpochWitnesses.Of(open.Config, Id(3)).AreEnough(0b1000));
    }

    /// <summary>All chains of up to five nodes, by all sequences of three changes, with or without records of the
    /// openings: members that have not installed the first epoch that opens never prove the epoch before it.</summary>
    [Fact]
    public void Old_epochs_have_never_enough_witnesses_behind_an_epoch_that_opened()
    {
        var placements = new[]
        {
            Placement.Implicit(1, 3), Placement.Implicit(1, 3) with { MinMembers = 1 }, Placement.Implicit(1, 4),
            Placement.Implicit(1, 0), Placement.Implicit(2, 2) with { Master = "west" },
            Placement.Implicit(2, 2) with { Master = "east", MinMembers = 1 },
        };
        ImmutableArray<DirectoryNode> all =
            [Node(1), Node(2), Node(3, "west"), Node(4, "west"), Node(5)];
        var checks = 0;
        foreach (var placement in placements)
        {
            for (var members = 1; members <= 4; members++)
            {
                var first = all.Take(members).Select(node => new ChainMember(node.Id, node.Datacenter));
                var (created, _) =
                    ChainRules.Create(Known, "chain", placement, ChainOptions.Default, [.. first]);
                if (created is not null) Follow(ChainRules.Opened(created), [], 3);
            }
        }

        Assert.True(checks > 10_000, $"{checks}");

        // Openings alternate: an epoch that opened may be recorded so or not, and the readers stand in any before it.
        void Follow(ChainState state, ImmutableArray<ChainConfig> before, int changes)
        {
            // The newest epoch opens: readers and witnesses of the epochs since the last that opened are behind.
            foreach (var old in before) checks += CheckBehind(old, state.Config);
            if (changes == 0) return;
            foreach (var change in Changes(state.Config))
            {
                var ruling = ChainRules.Change(state, state.Config.Epoch, change, Nodes([.. all]));
                if (ruling.Refusal is not null) continue;
                // The epoch before opened without a record, or never opened.
                Follow(ruling.State, before.Add(state.Config), changes - 1);
                // The new one opens and is recorded.
                foreach (var old in before.Add(state.Config)) checks += CheckBehind(old, ruling.State.Config);
                Follow(ChainRules.Opened(ruling.State), [], changes - 1);
            }
        }

        IEnumerable<ChainChange> Changes(ChainConfig config)
        {
            for (var set = 1; set < 1 << config.Members.Length; set++)
            {
                var named = config.Members.Where((_, i) => (set & (1 << i)) != 0).Select(member => member.Node);
                yield return new ChainChange.Remove([.. named]);
            }

            foreach (var node in all) yield return new ChainChange.Promote(node.Id, 0);
            foreach (var placement in placements)
                yield return new ChainChange.SetOptions(placement, ChainOptions.Default);
        }
    }

    /// <summary>Members of an old epoch outside of an opened epoch never prove the old epoch together; the count of
    /// the readers checked.</summary>
    private static int CheckBehind(ChainConfig old, ChainConfig opened)
    {
        var checks = 0;
        foreach (var reader in old.Members)
        {
            if (opened.IndexOf(reader.Node) >= 0) continue;
            var behind = 0UL;
            for (var i = 0; i < old.Members.Length; i++)
            {
                if (opened.IndexOf(old.Members[i].Node) < 0) behind |= 1UL << i;
            }

            checks++;
            Assert.False(EpochWitnesses.Of(old, reader.Node).AreEnough(behind),
                $"{reader.Node} proves {old} behind {opened}");
        }

        return checks;
    }
}
