namespace Corfu.Simulation.Tests;

/// <summary>Planted errors in histories: a checker that cannot fail proves nothing.</summary>
public sealed class LogCheckerTests
{
    private const ulong Stream = 300;

    private static LogHistory Good()
    {
        var history = new LogHistory();
        history.Appends.Add(new AppendOp(1, 101, [Stream], 1, 5, AppendFate.Acknowledged, 0));
        history.Appends.Add(new AppendOp(2, 102, [Stream], 6, 9, AppendFate.Acknowledged, 2));
        history.Appends.Add(new AppendOp(2, 103, [], 6, LogHistory.Never, AppendFate.Unknown, -1));
        history.Reads.Add(new ReadOp(1, 2, 3, 4, SeenKind.Unwritten, 0));
        history.Reads.Add(new ReadOp(1, 0, 5, 8, SeenKind.Data, 101));
        history.Reads.Add(new ReadOp(1, 1, 5, 8, SeenKind.Junk, 0));
        history.Tails.Add(new TailOp(1, 10, 11, 3));
        history.StreamReads.Add(new StreamReadOp(1, Stream, 10, 12, [(0, 101), (2, 102)]));
        history.Final.Add(new FinalEntry(0, SeenKind.Data, 101, [Stream], [(Stream, [])]));
        history.Final.Add(new FinalEntry(1, SeenKind.Junk, 0, [], []));
        history.Final.Add(new FinalEntry(2, SeenKind.Data, 102, [Stream], [(Stream, [1, 0])]));
        return history;
    }

    private static void Finds(string checker, LogHistory history)
    {
        List<Violation> found = LogChecker.CheckAll(history);
        Assert.Contains(found, v => v.Checker == checker);
    }

    [Fact]
    public void A_correct_history_passes() => Assert.Empty(LogChecker.CheckAll(Good()));

    [Fact]
    public void An_unknown_append_may_be_in_the_log()
    {
        LogHistory history = Good();
        history.Final.Add(new FinalEntry(3, SeenKind.Data, 103, [], []));
        Assert.Empty(LogChecker.CheckAll(history));
    }

    [Fact]
    public void An_acknowledged_append_that_is_junk_in_the_end_is_lost()
    {
        LogHistory history = Good();
        history.Final[2] = new FinalEntry(2, SeenKind.Junk, 0, [], []);
        Finds(CheckerNames.NothingLost, history);
    }

    [Fact]
    public void An_acknowledged_append_beyond_the_end_is_lost()
    {
        LogHistory history = Good();
        history.Final.RemoveAt(2);
        Finds(CheckerNames.NothingLost, history);
    }

    [Fact]
    public void Trimmed_is_lost_unless_somebody_trimmed()
    {
        LogHistory history = Good();
        history.Final[2] = new FinalEntry(2, SeenKind.Trimmed, 0, [], []);
        Finds(CheckerNames.NothingLost, history);
        history.Trims.Add(new TrimOp(1, 3, true, 8, 9));
        Assert.DoesNotContain(LogChecker.CheckAll(history), v => v.Checker == CheckerNames.NothingLost);
    }

    [Fact]
    public void A_hole_after_healing_is_found()
    {
        LogHistory history = Good();
        history.Final[1] = new FinalEntry(1, SeenKind.Unwritten, 0, [], []);
        Finds(CheckerNames.NothingLost, history);
    }

    [Fact]
    public void One_append_at_two_positions_is_found()
    {
        LogHistory history = Good();
        history.Final.Add(new FinalEntry(3, SeenKind.Data, 102, [Stream], [(Stream, [2, 1, 0])]));
        Finds(CheckerNames.ExactlyOnce, history);
    }

    [Fact]
    public void A_refused_append_in_the_log_is_found()
    {
        LogHistory history = Good();
        history.Appends[2] = history.Appends[2] with { Outcome = AppendFate.Refused };
        history.Final.Add(new FinalEntry(3, SeenKind.Data, 103, [], []));
        Finds(CheckerNames.ExactlyOnce, history);
    }

    [Fact]
    public void An_entry_nobody_appended_is_found()
    {
        LogHistory history = Good();
        history.Final.Add(new FinalEntry(3, SeenKind.Data, 999, [], []));
        Finds(CheckerNames.ExactlyOnce, history);
    }

    [Fact]
    public void Order_against_real_time_is_found()
    {
        LogHistory history = Good();
        history.Appends[1] = history.Appends[1] with { Start = 20, End = 25, Position = 2 };
        history.Appends.Add(new AppendOp(3, 104, [], 11, 15, AppendFate.Acknowledged, 3));
        history.Final.Add(new FinalEntry(3, SeenKind.Data, 104, [], []));
        Finds(CheckerNames.LogOrder, history);
    }

    [Fact]
    public void Two_appends_at_one_position_are_found()
    {
        LogHistory history = Good();
        history.Appends.Add(new AppendOp(3, 104, [], 6, 15, AppendFate.Acknowledged, 2));
        Finds(CheckerNames.LogOrder, history);
    }

    [Fact]
    public void A_tail_at_or_below_an_acknowledged_position_is_found()
    {
        LogHistory history = Good();
        history.Tails.Add(new TailOp(1, 12, 13, 2));
        Finds(CheckerNames.Check, history);
    }

    [Fact]
    public void A_tail_may_step_back_over_grants_that_nobody_wrote()
    {
        LogHistory history = Good();
        history.Tails.Add(new TailOp(1, 12, 13, 9));
        history.Tails.Add(new TailOp(1, 14, 15, 3));
        Assert.Empty(LogChecker.CheckAll(history));
    }

    [Fact]
    public void Two_values_at_one_position_are_found()
    {
        LogHistory history = Good();
        history.Reads.Add(new ReadOp(3, 1, 5, 8, SeenKind.Data, 103));
        Finds(CheckerNames.WriteOnce, history);
    }

    [Fact]
    public void Unwritten_after_a_value_is_found()
    {
        LogHistory history = Good();
        history.Reads.Add(new ReadOp(3, 1, 20, 21, SeenKind.Unwritten, 0));
        Finds(CheckerNames.WriteOnce, history);
    }

    [Fact]
    public void Data_after_trimmed_is_found()
    {
        LogHistory history = Good();
        history.Trims.Add(new TrimOp(1, 0, false, 10, 11));
        history.Reads.Add(new ReadOp(3, 0, 12, 13, SeenKind.Trimmed, 0));
        history.Reads.Add(new ReadOp(3, 0, 14, 15, SeenKind.Data, 101));
        history.Final[0] = new FinalEntry(0, SeenKind.Trimmed, 0, [], []);
        Finds(CheckerNames.WriteOnce, history);
    }

    [Fact]
    public void A_value_from_the_future_is_found()
    {
        LogHistory history = Good();
        history.Reads.Add(new ReadOp(3, 2, 2, 3, SeenKind.Data, 102));
        Finds(CheckerNames.ReadValue, history);
    }

    [Fact]
    public void A_stream_reader_that_skips_is_found()
    {
        LogHistory history = Good();
        history.StreamReads.Add(new StreamReadOp(3, Stream, 3, 15, [(2, 102)]));
        Finds(CheckerNames.StreamWalk, history);
    }

    [Fact]
    public void A_stream_reader_that_stops_before_an_acknowledged_entry_is_found()
    {
        LogHistory history = Good();
        history.StreamReads.Add(new StreamReadOp(3, Stream, 10, 15, [(0, 101)]));
        Finds(CheckerNames.StreamWalk, history);
    }

    [Fact]
    public void A_backpointer_past_an_entry_is_found()
    {
        LogHistory history = Good();
        history.Final[2] = new FinalEntry(2, SeenKind.Data, 102, [Stream], [(Stream, [1])]);
        Finds(CheckerNames.StreamWalk, history);
    }
}
