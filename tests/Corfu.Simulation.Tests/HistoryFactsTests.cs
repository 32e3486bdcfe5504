namespace Corfu.Simulation.Tests;

/// <summary>Needs that a trim must respect: each is found when it is not met.</summary>
public sealed class HistoryFactsTests
{
    private const ulong First = 256;
    private const ulong Second = 257;

    private readonly HistoryFacts _facts = new();

    private string[] NeededBelow(long below) =>
        [.. _facts.NeededBelow(below, static id => id is First or Second ? [First, Second] : [id])];

    [Fact]
    public void A_unit_needs_a_complete_checkpoint_that_ends_behind_the_trim()
    {
        _facts.Entry(Second, 3);
        Assert.Empty(NeededBelow(3));
        Assert.NotEmpty(NeededBelow(4));
        _facts.Checkpoint(First, 10, [11, 12]);
        _facts.PartOfCheckpoint(11);
        Assert.NotEmpty(NeededBelow(10));
        _facts.PartOfCheckpoint(12);
        Assert.Empty(NeededBelow(10));
        Assert.NotEmpty(NeededBelow(11));
    }

    [Fact]
    public void Deleted_cohort_needs_no_history()
    {
        _facts.Entry(First, 3);
        _facts.Deleted.Add(First);
        Assert.Empty(NeededBelow(4));
    }

    [Fact]
    public void Undecided_commit_record_needs_a_checkpoint_at_or_below_the_record()
    {
        _facts.Entry(First, 3);
        _facts.Commits[(20, 0)] = [Second];
        _facts.Checkpoint(First, 21, []);
        Assert.NotEmpty(NeededBelow(10));
        _facts.Checkpoint(First, 12, []);
        Assert.Empty(NeededBelow(12));
        Assert.NotEmpty(NeededBelow(13));
        _facts.Decision((20, 0), 25);
        Assert.Empty(NeededBelow(13));
    }
}
