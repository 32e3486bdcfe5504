using Salus.Coordination.Rules;
using Salus.Coordination.Tests.Support;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests;

public sealed class RegionRulesTests
{
    private readonly TestVolume _volume = new();

    [Fact]
    public void Volume_is_made_once()
    {
        var geometry = _volume.State.Head.Geometry!;
        Assert.Same(_volume.State, RegionRules.Create(_volume.State, Id, geometry).State);
        _volume.MustNot(RegionRules.Create(_volume.State, new VolumeId(Guid.AllBitsSet), geometry), "another name");
    }

    [Fact]
    public void Regions_are_placed_in_order_with_distinct_members()
    {
        Assert.NotNull(RegionRules.Place(VolumeState.Empty, 0, [Members(1, 2)]).Refusal);
        var made = RegionRules.Create(VolumeState.Empty, Id, _volume.State.Head.Geometry!).State;
        Assert.NotNull(RegionRules.Place(made, 1, [Members(1, 2)]).Refusal);
        Assert.NotNull(RegionRules.Place(made, 0, []).Refusal);
        Assert.NotNull(RegionRules.Place(made, 0, [Members(1)]).Refusal);
        Assert.NotNull(RegionRules.Place(made, 0, [Members(1, 1)]).Refusal);
        Assert.NotNull(RegionRules.Place(made, 0, [[Member(1), new RegionMember(Store(1), Name(2), false)]]).Refusal);
        Assert.NotNull(RegionRules.Place(made, 0, [[Member(1), default]]).Refusal);
        Assert.NotNull(RegionRules.Place(made, 0, [Members(1, 2), Members(3, 4), Members(5, 6)]).Refusal);
        Assert.False(made.IsPlaced);
        Assert.All(_volume.State.Regions.Values, region => Assert.True(region.Current.IsAdmitted));
        Assert.All(_volume[0].Current.Members, member => Assert.True(member.IsFilled));
    }

    [Fact]
    public void Replacement_is_for_the_generation_that_was_seen()
    {
        _volume.Must(_volume.Replace(0, 0, 5));
        _volume.MustNot(RegionRules.Replace(_volume.State, 0, Epoch.First, Members(0, 6)), "look at it again");
        _volume.MustNot(RegionRules.Replace(_volume.State, 7, Epoch.First, Members(0, 6)), "no region 7");
        var region = _volume[0];
        Assert.Equal(new Epoch(2), region.Current.Number);
        Assert.False(region.Current.IsAdmitted);
        Assert.Equal([true, false], region.Current.Members.Select(member => member.IsFilled));
        Assert.Equal(Epoch.First, region.Anchor.Number);
        Assert.NotNull(region.MembersOf(Epoch.First));
    }

    /// <summary>S6: what a generation has read before it was given up may be less than what counts.</summary>
    [Fact]
    public void Recovery_behind_a_newer_replacement_is_refused()
    {
        _volume.Must(_volume.Replace(0, 0, 5));
        var late = Sign(0, 7);
        _volume.Must(_volume.Replace(0, 0, 6));
        _volume.MustNot(RegionRules.Recovered(_volume.State, 0, new Epoch(2),
            new RegionOpening(7, Hash(7), 0, default, 2), late), "at generation 3");
    }

    [Fact]
    public void Recovery_has_a_certificate_of_the_new_members()
    {
        var old = Sign(0, 7);
        _volume.Must(_volume.Replace(0, 0, 5));
        var opening = new RegionOpening(7, Hash(7), 0, default, 2);
        _volume.MustNot(RegionRules.Recovered(_volume.State, 0, new Epoch(2), opening, old), "certificate");
        _volume.MustNot(RegionRules.Recovered(
            _volume.State, 0, new Epoch(2), opening with { Index = 8 }, Sign(0, 7)), "certificate");
        _volume.MustNot(_volume.Recover(0, 7, run: 1), "at run 0");
        _volume.MustNot(RegionRules.Recovered(
            _volume.State, 0, new Epoch(2), opening with { StoresRead = -1 }, Sign(0, 7)), "0 to ");
        _volume.Must(_volume.Recover(0, 7));
        Assert.Same(_volume.State, _volume.Recover(0, 7).State);
        _volume.MustNot(_volume.Recover(0, 8), "opened elsewhere");
        Assert.False(_volume[0].Current.IsAdmitted);
    }

    /// <summary>S10: no recovery begins below a checkpoint that is on the log.</summary>
    [Fact]
    public void Recovery_below_the_newest_checkpoint_is_refused()
    {
        _volume.Open();
        _volume.Must(_volume.Publish(0, File(1, 1, 4)));
        _volume.Must(_volume.Replace(0, 0, 5));
        _volume.MustNot(_volume.Recover(0, 10, Batch(1, 4)), "below checkpoint 1");
        _volume.MustNot(_volume.Recover(0, 11, Batch(1, 3)), "below checkpoint 1");
        _volume.Must(_volume.Recover(0, 11, Batch(1, 4)));
    }

    [Fact]
    public void Generation_is_admitted_by_the_run_that_compared_the_region()
    {
        _volume.Open();
        _volume.Must(_volume.Replace(0, 0, 5));
        _volume.MustNot(RegionRules.Admit(_volume.State, 0, new Epoch(2), 1), "not recovered");
        _volume.Must(_volume.Recover(0, 7));
        _volume.MustNot(RegionRules.Admit(_volume.State, 0, new Epoch(2), 2), "at run 1");
        _volume.MustNot(RegionRules.Admit(_volume.State, 0, Epoch.First, 1), "at generation 2");
        _volume.MustNot(_volume.Publish(0, File(1, 1, 1)), "not admitted");
        _volume.Must(RegionRules.Admit(_volume.State, 0, new Epoch(2), 1));
        Assert.True(_volume[0].Current.IsAdmitted);
        Assert.Same(_volume.State, RegionRules.Admit(_volume.State, 0, new Epoch(2), 1).State);
        _volume.Begin();
        _volume.MustNot(RegionRules.Admit(_volume.State, 0, new Epoch(2), 2), "Fencing");
    }

    [Fact]
    public void Member_is_filled_in_the_same_generation()
    {
        _volume.Must(_volume.Replace(0, 0, 5));
        _volume.MustNot(RegionRules.Fill(_volume.State, 0, Epoch.First, Name(5)), "at generation 2");
        _volume.MustNot(RegionRules.Fill(_volume.State, 0, new Epoch(2), Name(1)), "no member");
        _volume.Must(RegionRules.Fill(_volume.State, 0, new Epoch(2), Name(5)));
        Assert.True(_volume[0].Current.Find(Name(5))!.Value.IsFilled);
        Assert.Same(_volume.State, RegionRules.Fill(_volume.State, 0, new Epoch(2), Name(5)).State);
    }

    [Fact]
    public void Checkpoints_are_certified_and_rise()
    {
        _volume.Open();
        var file = File(2, 1, 4);
        _volume.MustNot(RegionRules.Publish(_volume.State, 0, Epoch.First, file,
            _volume.Sign(1, (key, generation) => Statement.Checkpoint(key, generation, file))), "certificate");
        _volume.Must(_volume.Publish(0, file));
        Assert.Same(_volume.State, _volume.Publish(0, file).State);
        _volume.MustNot(_volume.Publish(0, File(1, 1, 5)), "newer");
        _volume.MustNot(_volume.Publish(0, File(3, 1, 3)), "newer");
        _volume.Must(_volume.Publish(0, File(3, 1, 4)));
    }

    /// <summary>S19: the newest checkpoint that the stable point has reached stays, and all above.</summary>
    [Fact]
    public void Checkpoints_go_below_the_stable_point_alone()
    {
        _volume.Open();
        for (var i = 1; i <= 4; i++) _volume.Must(_volume.Publish(0, File(i, 1, 10 * i)));
        _volume.Must(_volume.Note(50, 9));
        Assert.Equal(4, _volume[0].Checkpoints.Length);
        _volume.Must(_volume.Note(50, 29));
        Assert.Equal([2L, 3L, 4L], _volume[0].Checkpoints.Select(file => file.Number));
        _volume.Must(_volume.Note(50, 50));
        Assert.Equal([4L], _volume[0].Checkpoints.Select(file => file.Number));
    }

    [Fact]
    public void Checkpoints_are_bounded()
    {
        _volume.Open();
        for (var i = 1; i <= CoordinationLimits.MaxCheckpoints; i++) _volume.Must(_volume.Publish(0, File(i, 1, i)));
        _volume.MustNot(_volume.Publish(0, File(1000, 1, 1000)), "the most");
    }

    [Fact]
    public void Generations_that_no_certificate_names_go()
    {
        _volume.Open();
        _volume.Must(_volume.Replace(0, 0, 5));
        _volume.Must(_volume.Recover(0, 7, Batch(1, 20)));
        _volume.Must(RegionRules.Admit(_volume.State, 0, new Epoch(2), 1));
        _volume.Must(_volume.Note(30, 19));
        Assert.Single(_volume[0].Past);
        _volume.Must(_volume.Note(30, 20));
        Assert.Empty(_volume[0].Past);
    }

    /// <summary>A region that is replaced again and again goes on, with the last admitted generation as its
    /// anchor.</summary>
    [Fact]
    public void Generations_that_were_never_admitted_are_bounded()
    {
        for (var i = 0; i < 300; i++) _volume.Must(_volume.Replace(0, 0, 5 + (i % 2)));
        Assert.True(_volume[0].Past.Length <= 10);
        Assert.Equal(Epoch.First, _volume[0].Anchor.Number);
    }

    [Fact]
    public void Admitted_generations_above_the_stable_point_are_bounded()
    {
        _volume.Open();
        for (var i = 2; i <= CoordinationLimits.MaxGenerations; i++)
        {
            _volume.Must(_volume.Replace(0, 0, 5 + (i % 2)));
            _volume.Must(_volume.Recover(0, i, Batch(1, i)));
            _volume.Must(RegionRules.Admit(_volume.State, 0, new Epoch(i), 1));
        }

        _volume.MustNot(_volume.Replace(0, 0, 9), "mount the volume");
        _volume.Must(_volume.Note(1000, 900));
        _volume.Must(_volume.Replace(0, 0, 9));
    }

    private Certificate Sign(int region, long index) => _volume.Sign(region,
        (key, generation) => Statement.Opening(key, generation, index, Hash(index), default));
}
