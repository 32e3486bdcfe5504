namespace Corfu.Simulation.Tests.Salus;

/// <summary>Facts about the servers of a volume with planted errors.</summary>
public sealed class SalusFactTests
{
    private static readonly string[] s_stores = ["a", "b", "c"];

    private readonly CommitOrderCheck _order = new("v");
    private readonly SignatureCheck _signatures = new();
    private readonly RegionFilesCheck _files = new();

    [Fact]
    public void Batch_at_all_members_is_committed()
    {
        Send(1, 1, 0, 1);
        foreach (var region in (int[])[0, 1]) Hold(region, 1, 1, s_stores);
        Assert.Null(Commit(1, 1));
        Assert.Null(Commit(1, 1));
    }

    [Fact]
    public void Batch_that_a_member_lacks_is_found()
    {
        Send(1, 1, 0, 1);
        Hold(0, 1, 1, s_stores);
        Hold(1, 1, 1, "a", "b");
        Finds(CheckerNames.Ordered, Commit(1, 1));
    }

    [Fact]
    public void Batch_before_that_is_missing_is_found()
    {
        Send(1, 1, 1);
        Send(1, 2, 0);
        Hold(0, 1, 2, s_stores);
        Finds(CheckerNames.Ordered, Commit(1, 2));
    }

    [Fact]
    public void Batch_that_was_never_sent_is_found() => Finds(CheckerNames.Ordered, Commit(1, 1));

    [Fact]
    public void Lost_disk_holds_no_records()
    {
        Send(1, 1, 0);
        Hold(0, 1, 1, s_stores);
        _order.Lost("b");
        Finds(CheckerNames.Ordered, Commit(1, 1));
    }

    [Fact]
    public void Checkpoint_holds_all_batches_below()
    {
        Send(1, 1, 0);
        Hold(0, 1, 1, "a", "b");
        _order.Covered(0, "c", 1);
        Assert.Null(Commit(1, 1));
    }

    [Fact]
    public void Members_of_an_earlier_generation_suffice()
    {
        Send(1, 1, 0);
        Hold(0, 1, 1, s_stores);
        Assert.Null(_order.Committed(new BatchFact(1, 1, "1.1"), "a", _ => [s_stores, ["a", "b", "d"]]));
    }

    [Fact]
    public void Batches_of_a_later_run_take_the_numbers_of_void_ones()
    {
        Send(1, 1, 0);
        Send(1, 2, 0);
        Hold(0, 1, 1, s_stores);
        Assert.Null(_order.Decided(2, 1, isTold: false));
        Send(2, 2, 0);
        Hold(0, 2, 2, s_stores);
        Assert.Null(Commit(2, 2));
    }

    [Fact]
    public void Void_batch_that_is_proven_is_found()
    {
        Send(1, 1, 0);
        Hold(0, 1, 1, s_stores);
        Assert.Null(_order.Decided(2, 0, isTold: false));
        Finds(CheckerNames.OneWriter, Commit(1, 1));
    }

    [Fact]
    public void Proven_batch_that_a_run_voids_is_found()
    {
        Send(1, 1, 0);
        Hold(0, 1, 1, s_stores);
        Assert.Null(Commit(1, 1));
        Finds(CheckerNames.LossTold, _order.Decided(2, 0, isTold: false));
        Assert.Null(_order.Decided(3, 0, isTold: true));
    }

    [Fact]
    public void Index_with_two_contents_is_found()
    {
        _signatures.Recorded("r", 1, s_stores);
        Assert.Null(_signatures.Logged("a", "r", 1, 9, "x"));
        Assert.Null(_signatures.Logged("b", "r", 1, 9, "x"));
        Finds(CheckerNames.Unanimous, _signatures.Logged("c", "r", 1, 9, "y"));
        Assert.Null(_signatures.Logged("c", "r", 2, 9, "y"));
    }

    [Fact]
    public void Signature_of_an_ended_generation_is_found()
    {
        _signatures.Recorded("r", 1, s_stores);
        Assert.Null(_signatures.Signed("a", "r", 1, "x"));
        _signatures.Opened("r", 2);
        // A repetition of what was signed before.
        Assert.Null(_signatures.Signed("a", "r", 1, "x"));
        Finds(CheckerNames.OneGeneration, _signatures.Signed("a", "r", 1, "y"));
    }

    [Fact]
    public void Vote_before_the_admission_is_found()
    {
        _signatures.Recorded("r", 2, s_stores);
        Finds(CheckerNames.OneGeneration, _signatures.Prepared("a", "r", 2, "x"));
        _signatures.Admitted("r", 2);
        Assert.Null(_signatures.Prepared("a", "r", 2, "x"));
        Finds(CheckerNames.OneGeneration, _signatures.Prepared("a", "r", 3, "x"));
    }

    [Fact]
    public void Signature_of_a_stranger_is_found()
    {
        _signatures.Recorded("r", 1, s_stores);
        Finds(CheckerNames.Unanimous, _signatures.Signed("d", "r", 1, "x"));
    }

    [Fact]
    public void Certificate_without_a_member_is_found()
    {
        _signatures.Recorded("r", 1, s_stores);
        Assert.Null(_signatures.Counted("a", "r", 1, "x", s_stores));
        Finds(CheckerNames.Unanimous, _signatures.Counted("a", "r", 1, "x", ["a", "c"]));
        Finds(CheckerNames.Unanimous, _signatures.Counted("a", "r", 2, "x", s_stores));
    }

    [Fact]
    public void Root_that_is_not_the_blocks_is_found()
    {
        var region = Region();
        Assert.Null(region.Put("c1", "", Batch(1), [(0, 1, "x")], "x,", "a"));
        Finds(CheckerNames.Root, region.Put("c2", "c1", Batch(2), [(1, 1, "y")], "x,", "a"));
        Finds(CheckerNames.Root, region.Told(Batch(1), "z,", "a"));
        Assert.Null(region.Told(Batch(1), "x,", "a"));
    }

    [Fact]
    public void Opening_voids_the_batches_above()
    {
        var region = Region();
        Assert.Null(region.Put("c1", "", Batch(1), [(0, 1, "x")], "x,", "a"));
        Assert.Null(region.Put("c2", "c1", Batch(2), [(0, 1, "y")], "y,", "a"));
        region.Other("c3", "c2");
        Assert.Null(region.Open("c4", "c3", Batch(1), "a"));
        Assert.Null(region.Put("c5", "c4", new BatchFact(2, 2, "z"), [(1, 1, "z")], "x,z", "a"));
        Assert.Null(region.Open("c6", "c5", default, "a"));
        Assert.Null(region.Put("c7", "c6", new BatchFact(3, 1, "w"), [(1, 1, "w")], ",w", "a"));
    }

    [Fact]
    public void Opening_behind_an_unknown_batch_is_found()
    {
        var region = Region();
        Assert.Null(region.Put("c1", "", Batch(1), [(0, 1, "x")], "x,", "a"));
        Finds(CheckerNames.Root, region.Open("c2", "c1", Batch(7), "a"));
    }

    [Fact]
    public void Files_that_differ_are_found()
    {
        Assert.Null(_files.Written("a", "r", 3, "c", "x", []));
        Assert.Null(_files.Written("b", "r", 3, "c", "x", []));
        Assert.Null(_files.Written("c", "r", 3, "d", "y", []));
        Finds(CheckerNames.SameFiles, _files.Written("c", "r", 3, "c", "y", []));
    }

    [Fact]
    public void File_that_a_checkpoint_needs_is_kept()
    {
        Assert.Null(_files.Written("a", "r", 1, "c", "x", []));
        Assert.Null(_files.Written("a", "r", 2, "d", "y", [1, 2]));
        _files.Kept("r", [2]);
        Finds(CheckerNames.Retention, _files.Deleted("a", "r", 1));
        Finds(CheckerNames.Retention, _files.Deleted("a", "r", 2));
        Assert.Null(_files.Deleted("a", "r", 3));
        _files.Kept("r", []);
        Assert.Null(_files.Deleted("a", "r", 1));
    }

    [Theory]
    [InlineData(9, 10, true)]
    [InlineData(10, 10, true)]
    [InlineData(11, 10, false)]
    public void Records_go_below_the_oldest_checkpoint(long index, long oldest, bool passes)
    {
        if (passes) Assert.Null(RegionFilesCheck.Freed("a", "r", index, oldest));
        else Finds(CheckerNames.Retention, RegionFilesCheck.Freed("a", "r", index, oldest));
    }

    [Theory]
    [InlineData(true, true, false)]
    [InlineData(true, false, true)]
    [InlineData(false, true, true)]
    public void Correct_member_is_accused_of_no_wrong_answer(bool isWrongAnswer, bool isCorrect, bool passes)
    {
        var found = AccusationCheck.Accused("a", "r", isWrongAnswer, isCorrect);
        if (passes) Assert.Null(found);
        else Finds(CheckerNames.Accusation, found);
    }

    private static RegionContentCheck Region() =>
        new("r", 2, static hashes => hashes.All(hash => hash.Length == 0) ? "" : string.Join(",", hashes));

    private static BatchFact Batch(long number) => new(1, number, $"{number}");

    private static void Finds(string checker, Violation? found) => Assert.Equal(checker, found?.Checker);

    private void Send(long run, long number, params int[] regions) =>
        _order.Sent(new BatchFact(run, number, $"{run}.{number}"), regions);

    private void Hold(int region, long run, long number, params string[] stores)
    {
        foreach (var store in stores) _order.Held(region, store, new BatchFact(run, number, $"{run}.{number}"));
    }

    private Violation? Commit(long run, long number) =>
        _order.Committed(new BatchFact(run, number, $"{run}.{number}"), "a", static _ => [s_stores]);
}
