using System.Globalization;

namespace Corfu.Simulation.Tests;

public sealed class TxCheckerTests
{
    private static KeyValuePair<string, long>[] Map(params (string Key, long Value)[] items)
        => [.. items.Select(i => KeyValuePair.Create(i.Key, i.Value))];

    private static TxHistory Good()
    {
        var history = new TxHistory();
        history.Transactions.Add(new TxOp(1, 1, 5, TxDecision.Committed, Map(("a", 0)), Map(("a", 11))));
        history.Transactions.Add(new TxOp(2, 6, 9, TxDecision.Committed, Map(("a", 11)), Map(("a", 21), ("b", 22))));
        // Read a before the second one wrote it, and lost.
        history.Transactions.Add(new TxOp(3, 6, 12, TxDecision.Aborted, Map(("a", 11)), Map(("a", 31))));
        history.Transactions.Add(new TxOp(1, 6, 10, TxDecision.Committed, Map(("a", 11)), Map()));
        history.Places[11] = (0, 0);
        history.Places[21] = (1, 0);
        history.Places[22] = (1, 1);
        history.Places[31] = (2, 0);
        history.Views.Add(new ViewSample(1, 3, "a", "21"));
        history.Views.Add(new ViewSample(2, 3, "a", "21"));
        return history;
    }

    private static void Finds(string checker, TxHistory history) =>
        Assert.Contains(TxChecker.CheckAll(history), v => v.Checker == checker);

    [Fact]
    public void A_correct_history_passes() => Assert.Empty(TxChecker.CheckAll(Good()));

    [Fact]
    public void A_commit_on_a_stale_read_is_found()
    {
        TxHistory history = Good();
        history.Transactions[2] = history.Transactions[2] with { Decision = TxDecision.Committed };
        Finds(CheckerNames.Transactions, history);
    }

    /// <summary>R29: a decided record takes effect, so that it must not have read what was written since.</summary>
    [Fact]
    public void A_decided_record_on_a_stale_read_is_found()
    {
        TxHistory history = Good();
        history.Decided.Add(21);
        Assert.Empty(TxChecker.CheckAll(history));
        history.Transactions[2] = history.Transactions[2] with { Decision = TxDecision.Unknown };
        Assert.Empty(TxChecker.CheckAll(history));
        history.Decided.Add(31);
        Finds(CheckerNames.Decided, history);
    }

    [Fact]
    public void An_abort_with_a_decided_record_in_the_log_is_found()
    {
        TxHistory history = Good();
        history.Transactions[1] = history.Transactions[1] with { Decision = TxDecision.Aborted };
        history.Decided.Add(21);
        Finds(CheckerNames.Decided, history);
    }

    /// <summary>R23: the model refuses what the object refuses, wherever the write stands in its transaction, and
    /// nothing else.</summary>
    [Theory]
    [InlineData(1, 21, 13, true)]
    [InlineData(0, 21, 13, false)]
    [InlineData(1, 0, 13, false)]
    [InlineData(1, 21, 14, false)]
    public void Refused_write_is_reported_and_only_that_write_has_no_effect(int told, long seenBehind,
        long seenAtGate, bool isRight)
    {
        var history = new TxHistory { Refuses = (key, before, _) => key == "gate" && before != 0 };
        history.Transactions.Add(new TxOp(1, 1, 5, TxDecision.Committed, Map(), Map(("gate", 13))));
        history.Transactions.Add(new TxOp(2, 6, 9, TxDecision.Committed, Map(("a", 0)),
            Map(("gate", 14), ("a", 21)))
        { Refused = told });
        history.Transactions.Add(new TxOp(3, 10, 12, TxDecision.Committed, Map(("a", seenBehind), ("gate", seenAtGate)),
            Map()));
        history.Places[13] = (0, 0);
        history.Places[14] = (1, 0);
        history.Places[21] = (1, 1);
        Assert.Equal(isRight, TxChecker.CheckAll(history).Count == 0);
    }

    [Fact]
    public void An_abort_without_a_conflict_is_found()
    {
        TxHistory history = Good();
        history.Transactions[2] = history.Transactions[2] with { Reads = Map(("b", 22)) };
        Finds(CheckerNames.AbortJustified, history);
    }

    [Fact]
    public void An_aborted_transaction_that_read_two_states_is_found()
    {
        TxHistory history = Good();
        // a before the second transaction, b after it.
        history.Transactions[2] = history.Transactions[2] with { Reads = Map(("a", 11), ("b", 22)) };
        Finds(CheckerNames.Opacity, history);
    }

    [Fact]
    public void An_abort_without_a_record_needs_a_change_too()
    {
        TxHistory history = Good();
        history.Transactions.Add(new TxOp(3, 20, 25, TxDecision.Aborted, Map(("a", 21)), Map(("a", 41))));
        Finds(CheckerNames.AbortJustified, history);
    }

    [Fact]
    public void A_committed_write_that_is_not_in_the_log_is_found()
    {
        TxHistory history = Good();
        history.Places.Remove(11);
        Finds(CheckerNames.Transactions, history);
    }

    [Fact]
    public void An_unknown_outcome_follows_the_model()
    {
        TxHistory history = Good();
        history.Transactions[0] = history.Transactions[0] with
        {
            Decision = TxDecision.Unknown,
            End = LogHistory.Never
        };
        Assert.Empty(TxChecker.CheckAll(history));
    }

    [Fact]
    public void A_read_of_two_states_is_found()
    {
        TxHistory history = Good();
        history.Transactions.Add(new TxOp(3, 6, 12, TxDecision.Committed, Map(("a", 11), ("b", 22)), Map()));
        Finds(CheckerNames.Transactions, history);
    }

    [Fact]
    public void Read_older_than_a_transaction_that_had_ended_is_found()
    {
        TxHistory history = Good();
        history.Transactions.Add(new TxOp(3, 10, 12, TxDecision.Committed, Map(("a", 11)), Map()));
        Finds(CheckerNames.Transactions, history);
    }

    [Fact]
    public void Order_against_real_time_is_found()
    {
        TxHistory history = Good();
        history.Transactions.Add(new TxOp(3, 20, 25, TxDecision.Committed, Map(), Map(("c", 41))));
        history.Transactions.Add(new TxOp(3, 30, 35, TxDecision.Committed, Map(), Map(("d", 42))));
        history.Places[41] = (5, 0);
        history.Places[42] = (4, 0);
        Finds(CheckerNames.Transactions, history);
    }

    [Fact]
    public void Views_that_differ_at_one_position_are_found()
    {
        TxHistory history = Good();
        history.Views.Add(new ViewSample(3, 3, "a", "11"));
        Finds(CheckerNames.ViewsEqual, history);
    }

    [Fact]
    public void Commit_too_far_behind_the_spills_is_found_and_an_abort_is_not()
    {
        var history = new TxHistory();
        history.Transactions.Add(new TxOp(1, 1, 5, TxDecision.Aborted, Map(("a", 0)), Map(("a", 11))));
        history.Places[11] = (0, 0);
        history.SpilledTooEarly.Add(11);
        Assert.Empty(TxChecker.CheckAll(history));
        history.Transactions[0] = history.Transactions[0] with { Decision = TxDecision.Committed };
        Finds(CheckerNames.Transactions, history);
    }

    [Fact]
    public void A_read_of_a_deleted_object_is_found()
    {
        string key = TxHistory.KeyOfTemporary(300);
        var history = new TxHistory();
        history.Transactions.Add(new TxOp(1, 1, 5, TxDecision.Committed, Map(), Map((key, 11))));
        history.Transactions.Add(new TxOp(1, 6, 9, TxDecision.Committed, Map((key, 11)), Map(("a", 12))));
        (history.Places[11], history.Places[12]) = ((0, 0), (2, 0));
        Assert.Empty(TxChecker.CheckAll(history));
        history.Delete(300, 1, 0);
        Finds(CheckerNames.Transactions, history);
    }

    [Theory]
    [InlineData(3, true, true)]
    [InlineData(3, false, false)]
    [InlineData(5, true, false)]
    [InlineData(5, false, true)]
    [InlineData(1, false, true)]
    public void Cohort_awaits_exactly_the_undecided_records_below(long playedTo, bool waits, bool isRight)
    {
        var history = new TxHistory();
        history.Facts.Commits[(1, 0)] = [256];
        history.Facts.Commits[(2, 0)] = [999];
        history.Facts.Decision((1, 0), 4);
        history.Awaited.Add(new AwaitedSample(1, playedTo, "a", [256, 257], waits ? [(1, 0)] : []));
        Assert.Equal(isRight, TxChecker.CheckAll(history).TrueForAll(v => v.Checker != CheckerNames.Awaited));
    }

    [Theory]
    [InlineData(1, 11, true)]
    [InlineData(2, 11, false)]
    [InlineData(2, 21, true)]
    public void A_past_state_is_the_models(long position, long value, bool isRight)
    {
        TxHistory history = Good();
        history.Past.Add(new PastState(1, position, Map(("a", value))));
        Assert.Equal(isRight, TxChecker.CheckAll(history).Count == 0);
    }

    [Theory]
    [InlineData(true, "0:11 1:21")]
    [InlineData(true, "0:11")]
    [InlineData(true, "0:11 r2:21")]
    [InlineData(false, "1:21")]
    [InlineData(false, "0:11 0:11 1:21")]
    [InlineData(false, "0:11 1:21 2:31")]
    [InlineData(false, "0:11 r2:11")]
    [InlineData(false, "0:11 1:21 r1:11")]
    public void A_feed_has_each_write_once(bool isRight, string changes)
    {
        TxHistory history = Good();
        var feed = new FeedRead(1, "a");
        foreach (string change in changes.Split(' '))
        {
            string[] parts = change.TrimStart('r').Split(':');
            long position = long.Parse(parts[0], CultureInfo.InvariantCulture);
            long value = long.Parse(parts[1], CultureInfo.InvariantCulture);
            feed.Changes.Add(new FeedChange(change[0] == 'r', position, value));
        }

        history.Feeds.Add(feed);
        Assert.Equal(isRight, TxChecker.CheckAll(history).Count == 0);
    }
}
