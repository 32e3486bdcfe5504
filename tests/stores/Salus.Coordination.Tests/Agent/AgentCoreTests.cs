using Salus.Coordination.Rules;
using Salus.Coordination.Tests.Support;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests.Agent;

/// <summary>An agent's decisions about a volume of two copies, whose region 0 is on the stores 0 and 1.</summary>
public sealed class AgentCoreTests
{
    private static readonly int[] s_all = [0, 1, 10, 11, 20, 21];

    private readonly AgentCore _core = new(new SalusAgentOptions());
    private readonly TestVolume _volume = new();
    private readonly Dictionary<int, BookedNode> _nodes = s_all.ToDictionary(
        static number => number, static number => Node(number, $"d{number}"));

    private VolumeStage _stage = VolumeStage.Ready;
    private long _revision = 1;

    [Fact]
    public void Whole_region_is_left_alone() => Assert.Empty(Decide(0, 100));

    [Fact]
    public void Member_that_is_gone_is_replaced_and_the_other_one_leads()
    {
        Decide(0);
        Set(0, node => node with { State = BookedState.Gone });
        Assert.Empty(Decide(1));
        var replace = Assert.IsType<AgentAction.Replace>(Assert.Single(Decide(2)));
        Assert.Equal((0, Epoch.First, Store(1)), (replace.Region.Region, replace.Generation, replace.Members[0].Store));
        Assert.Equal(2, replace.Members.Length);
        Assert.DoesNotContain(replace.Members, static member => member.Store == Store(0));
        Assert.Contains($"{Store(0)} is gone", replace.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Store_that_a_new_process_serves_keeps_the_region()
    {
        Decide(0);
        Set(0, node => node with { Incarnation = Name(77) });
        var replace = Assert.IsType<AgentAction.Replace>(Assert.Single(Decide(3)));
        Assert.Equal([Store(1), Store(0)], replace.Members.Select(static member => member.Store));
        Assert.Equal(Name(77), replace.Members[1].Incarnation);
    }

    [Fact]
    public void Region_changes_once_in_two_seconds()
    {
        Decide(0);
        Set(0, node => node with { State = BookedState.Gone });
        Take(Decide(5));
        Set(1, node => node with { State = BookedState.Gone });
        Assert.Empty(Decide(6));
        Assert.IsType<AgentAction.Replace>(Assert.Single(Decide(8)));
    }

    [Fact]
    public void Region_waits_while_there_are_too_few_processes()
    {
        foreach (var number in s_all.Where(static number => number > 1)) _nodes.Remove(number);
        Decide(0);
        Set(0, node => node with { State = BookedState.Gone });
        Assert.Empty(Decide(10));
        _nodes[30] = Node(30, "");
        Assert.Single(Decide(11), action => Of(0)(action));
    }

    [Fact]
    public void New_member_is_of_another_domain_where_there_is_one()
    {
        foreach (var number in s_all.Where(static number => number > 1))
            Set(number, node => node with { Domain = "d1" });
        Set(21, node => node with { Domain = "other" });
        Decide(0);
        Set(0, node => node with { State = BookedState.Gone });
        var replace = Assert.IsType<AgentAction.Replace>(Assert.Single(Decide(2)));
        Assert.Equal([Store(1), Store(21)], replace.Members.Select(static member => member.Store));
    }

    [Fact]
    public void Wrong_answer_counts_at_once()
    {
        Decide(0);
        Suspect(1, SuspicionKind.WrongAnswer, 3);
        var replace = Assert.IsType<AgentAction.Replace>(Assert.Single(Decide(3)));
        Assert.DoesNotContain(replace.Members, static member => member.Store == Store(1));
    }

    [Fact]
    public void Accused_store_comes_last_for_an_hour()
    {
        foreach (var number in (int[])[10, 11, 20]) _nodes.Remove(number);
        Suspect(1, SuspicionKind.WrongAnswer, 0);
        Decide(0);
        Take(Decide(3));
        _volume.Must(_volume.Recover(0, 5));
        Decide(10);
        // Store 1 is the only other one.
        Set(21, node => node with { State = BookedState.Gone });
        var replace = Assert.IsType<AgentAction.Replace>(Decide(20).First(Of(0)));
        Assert.Equal([Store(0), Store(1)], replace.Members.Select(static member => member.Store));
        _nodes[30] = Node(30, "d1");
        replace = Assert.IsType<AgentAction.Replace>(Decide(21).First(Of(0)));
        Assert.Equal([Store(0), Store(30)], replace.Members.Select(static member => member.Store));
    }

    /// <summary>A driver knows the region that stalls, and guesses at the member.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Stall_is_probed_and_counts_against_the_member_that_is_mute(int mute)
    {
        Decide(0);
        Suspect(0, SuspicionKind.Stall, 3);
        var probes = Decide(3).Cast<AgentAction.ProbeMember>().ToArray();
        Assert.Equal([Store(0), Store(1)], probes.Select(static probe => probe.Node.Store));
        for (var i = 0; i < 2; i++) _core.Record(probes[i], answers: i != mute, At(3));
        var replace = Assert.IsType<AgentAction.Replace>(Assert.Single(Decide(4)));
        Assert.DoesNotContain(replace.Members, member => member.Store == Store(mute));
        Assert.Contains(replace.Members, member => member.Store == Store(1 - mute));
    }

    [Fact]
    public void Second_stall_within_a_minute_counts_although_all_members_answer()
    {
        Decide(0);
        Suspect(0, SuspicionKind.Stall, 3);
        Answer(3);
        Assert.Empty(Decide(4));
        // The same record, sent twice.
        Suspect(0, SuspicionKind.Stall, 3);
        Assert.Empty(Decide(5));
        Suspect(0, SuspicionKind.Stall, 70);
        Assert.Equal(2, Decide(70).Count);
        Answer(70);
        Suspect(0, SuspicionKind.Stall, 75);
        var replace = Assert.Single(Decide(75).OfType<AgentAction.Replace>());
        Assert.DoesNotContain(replace.Members, static member => member.Store == Store(0));
    }

    [Fact]
    public void Same_members_begin_again_after_pauses_that_grow()
    {
        foreach (var number in s_all.Where(static number => number > 1)) _nodes.Remove(number);
        _volume.Open();
        var (now, pauses) = (0, new List<int>());
        Decide(0);
        for (var i = 0; i < 4; i++)
        {
            Suspect(1, SuspicionKind.WrongAnswer, now);
            var began = now;
            while (Decide(now) is var actions && !actions.Any(Of(0))) now++;
            Take(Decide(now));
            Decide(now);
            pauses.Add(now - began);
            _volume.Must(_volume.Recover(0, 5 + i));
        }

        Assert.Equal([4, 8, 16, 32], pauses);
    }

    [Fact]
    public void Process_that_does_not_seal_is_expelled_behind_two_probes()
    {
        Decide(0);
        Suspect(1, SuspicionKind.WrongAnswer, 3);
        Take(Decide(3));
        Assert.Empty(Decide(3));
        var probes = Decide(6).Cast<AgentAction.ProbeSeal>().ToArray();
        Assert.Equal([Store(0), Store(1)], probes.Select(static probe => probe.Node.Store));
        _core.Record(probes[0], isSealed: true, At(6));
        _core.Record(probes[1], isSealed: false, At(6));
        Assert.Empty(Decide(6));
        _core.Record((AgentAction.ProbeSeal)Assert.Single(Decide(7)), isSealed: false, At(7));
        Assert.Equal(Store(1), Assert.IsType<AgentAction.Expel>(Assert.Single(Decide(7))).Node.Store);
        Set(1, node => node with { State = BookedState.Expelled });
        Assert.Empty(Decide(8));
    }

    [Fact]
    public void Member_that_never_opens_and_does_not_answer_is_replaced()
    {
        Decide(0);
        Set(0, node => node with { State = BookedState.Gone });
        Take(Decide(2));
        Decide(2);
        var added = _volume[0].Current.Members[1];
        foreach (var second in (int[])[12, 13])
        {
            foreach (var probe in Decide(second).OfType<AgentAction.ProbeMember>())
                _core.Record(probe, probe.Node.Store != added.Store, At(second));
        }

        var replace = Assert.Single(Decide(14).OfType<AgentAction.Replace>());
        Assert.DoesNotContain(replace.Members, member => member.Store == added.Store);
        Assert.Equal(Store(1), replace.Members[0].Store);
    }

    /// <summary>Seed 2 of the simulator: the mute member ranked above the accused ones, and was chosen for
    /// ever.</summary>
    [Fact]
    public void Silent_member_is_replaced_although_each_other_node_was_accused()
    {
        foreach (var number in (int[])[20, 21]) _nodes.Remove(number);
        Set(11, node => node with { Free = 0 });
        Decide(0);
        Suspect(1, SuspicionKind.WrongAnswer, 0);
        Take(Decide(3));
        Decide(3);
        var added = _volume[0].Current.Members[1];
        Assert.Equal(Store(10), added.Store);
        foreach (var second in (int[])[13, 14])
        {
            foreach (var probe in Decide(second).OfType<AgentAction.ProbeMember>())
                _core.Record(probe, probe.Node.Store != added.Store, At(second));
        }

        var replace = Assert.IsType<AgentAction.Replace>(Decide(15).First(Of(0)));
        Assert.DoesNotContain(replace.Members, member => member.Store == added.Store);
    }

    /// <summary>Seed 100 of the simulator: two mute members took each other's place for ever, and the others had been
    /// accused.</summary>
    [Fact]
    public void Silent_member_does_not_return_for_another_silent_one()
    {
        foreach (var number in (int[])[20, 21]) _nodes.Remove(number);
        Set(11, node => node with { Free = 1 });
        Decide(0);
        Suspect(1, SuspicionKind.WrongAnswer, 0);
        Take(Decide(3));
        Decide(3);
        foreach (var (second, mute) in ((int, int)[])[(13, 10), (25, 11)])
        {
            Assert.Equal(Store(mute), _volume[0].Current.Members[1].Store);
            for (var i = 0; i < 2; i++)
            {
                foreach (var probe in Decide(second + i).OfType<AgentAction.ProbeMember>())
                    _core.Record(probe, probe.Node.Store != Store(mute), At(second + i));
            }

            Take([.. Decide(second + 2).OfType<AgentAction.Replace>()]);
            Decide(second + 2);
        }

        Assert.Equal([Store(0), Store(1)], _volume[0].Current.Members.Select(static member => member.Store));
    }

    [Fact]
    public void Recovery_that_takes_long_is_not_begun_again()
    {
        Decide(0);
        Set(0, node => node with { State = BookedState.Gone });
        Take(Decide(2));
        for (var second = 3; second < 300; second++)
        {
            foreach (var action in Decide(second))
            {
                if (action is AgentAction.ProbeMember member) _core.Record(member, answers: true, At(second));
                else _core.Record((AgentAction.ProbeSeal)action, isSealed: true, At(second));
            }
        }

        _volume.MustNot(VolumeRules.Suspect(_volume.State, new Suspicion(0, _volume[0].Current.Number,
            _volume[0].Current.Members[0].Incarnation, SuspicionKind.Stall, 0)), "being recovered");
    }

    [Fact]
    public void Deletion_asks_all_stores_of_the_book()
    {
        _stage = VolumeStage.Deleting;
        Set(20, node => node with { State = BookedState.Gone });
        Set(0, node => node with { State = BookedState.Expelled });
        Assert.Equal(6, Assert.IsType<AgentAction.Clear>(Assert.Single(Decide(0))).Stores.Length);
        _nodes.Remove(20);
        Assert.Equal(5, Assert.IsType<AgentAction.Clear>(Assert.Single(Decide(2))).Stores.Length);
    }

    [Fact]
    public void Store_keeps_a_region_that_has_moved_away_until_no_recovery_may_need_the_copy()
    {
        _volume.Open();
        Decide(0);
        Set(0, node => node with { State = BookedState.Gone });
        Take(Decide(2));
        _volume.Must(_volume.Recover(0, 5, Batch(1, 3)));
        Assert.False(View().MayForget(_volume.State.Key(0), Store(0)));
        _volume.Must(RegionRules.Admit(_volume.State, 0, new Epoch(2), 1));
        foreach (var member in _volume[0].Current.Members)
            _volume.Must(RegionRules.Fill(_volume.State, 0, new Epoch(2), member.Incarnation));
        Assert.False(View().MayForget(_volume.State.Key(0), Store(0)));
        _volume.Must(_volume.Note(4, 3));
        Assert.True(View().MayForget(_volume.State.Key(0), Store(0)));
        Assert.False(View().MayForget(_volume.State.Key(0), Store(1)));
        Assert.False(MapView.Empty.MayForget(_volume.State.Key(0), Store(0)));
    }

    private static BookedNode Node(int number, string domain) => new(Store(number), Name(number),
        new NodeEndpoint("127.0.0.1", 4000 + number), domain, 1 << 20, BookedState.Live, 1);

    private static Func<AgentAction, bool> Of(int region) =>
        action => action is AgentAction.Replace replace && replace.Region.Region == region;

    private static TimeSpan At(int second) => TimeSpan.FromSeconds(second);

    private void Set(int number, Func<BookedNode, BookedNode> change) => _nodes[number] = change(_nodes[number]);

    private void Suspect(int number, SuspicionKind kind, int second) => _volume.Must(VolumeRules.Suspect(_volume.State,
        new Suspicion(0, _volume[0].Current.Number, Name(number), kind, 1000 * second)));

    private MapView View() => (MapView.Empty with
    {
        Nodes = new NodeBookView(++_revision,
            _nodes.Values.ToImmutableSortedDictionary(static node => node.Store.Value, static node => node)),
        Volumes = MapView.Empty.Volumes.Add(Id, _volume.State),
    }).With(new Dictionary<string, VolumeEntry> { ["v"] = new(Id, _volume.State.Head.Geometry!, _stage) });

    private List<AgentAction> Decide(params ReadOnlySpan<int> seconds)
    {
        var actions = new List<AgentAction>();
        foreach (var second in seconds)
        {
            _core.Observe(View(), At(second));
            actions = _core.Decide(At(second), 1000 * second);
        }

        return actions;
    }

    private void Answer(int second)
    {
        foreach (var probe in Decide(second).Cast<AgentAction.ProbeMember>())
            _core.Record(probe, answers: true, At(second));
    }

    private void Take(List<AgentAction> actions)
    {
        var replace = actions.OfType<AgentAction.Replace>().First(action => action.Region.Region == 0);
        _volume.Must(RegionRules.Replace(_volume.State, 0, replace.Generation, replace.Members));
    }
}
