namespace Corfu.Simulation.Tests.Craq;

/// <summary>Planted errors for the checkers of weak reads, of repeated writes and of transactions.</summary>
public sealed class ObjectPromiseTests
{
    private readonly ObjectHistory _history = new();

    [Fact]
    public void Session_that_moves_forward_passes()
    {
        Write("w1", 5, 1, 2, session: "s");
        SessionRead(5, mark: 5, 3, 4);
        SessionRead(9, mark: 12, 5, 6);
        Assert.Empty(SessionCheck.Check(_history));
    }

    [Fact]
    public void Session_that_goes_back_is_found()
    {
        SessionRead(9, mark: 12, 1, 2);
        SessionRead(5, mark: 12, 3, 4);
        Finds(SessionCheck.Check(_history), CheckerNames.Session);
    }

    [Fact]
    public void Session_without_a_write_of_the_session_is_found()
    {
        Write("w1", 9, 1, 2, session: "s");
        SessionRead(5, mark: 10, 3, 4);
        Finds(SessionCheck.Check(_history), CheckerNames.Session);
    }

    [Fact]
    public void Session_answer_below_the_token_is_found()
    {
        SessionRead(9, mark: 12, 1, 2);
        SessionRead(9, mark: 11, 3, 4);
        Finds(SessionCheck.Check(_history), CheckerNames.Session);
    }

    [Fact]
    public void Session_without_a_write_below_the_mark_is_found()
    {
        Write("w1", 8, 1, 2, session: null);
        _history.Calls.Add(Session("y", 9, mark: 9, 3, 4));
        SessionRead(5, mark: 9, 5, 6);
        Finds(SessionCheck.Check(_history), CheckerNames.Session);
    }

    [Fact]
    public void Session_that_shows_an_uncommitted_version_is_found()
    {
        SessionRead(9, mark: 8, 1, 2);
        Finds(SessionCheck.Check(_history), CheckerNames.Session);
    }

    [Fact]
    public void Overlapping_calls_of_a_session_may_go_back()
    {
        SessionRead(9, mark: 12, 1, 5);
        SessionRead(5, mark: 8, 2, 6);
        Assert.Empty(SessionCheck.Check(_history));
    }

    [Theory]
    [InlineData(5, 0, 100, false)]
    [InlineData(5, 0, 400, true)]
    [InlineData(7, 1, 0, false)]
    [InlineData(7, 2, 0, true)]
    public void Bounded_read_is_held_to_the_bounds(long version, int ahead, long age, bool passes)
    {
        _history.Calls.Add(new ObjectCall("b", "c", ObjectMode.Bounded, 1, 2, ObjectFate.Done)
        {
            Seen = [new ObjectSeen("x", version, "v")],
            MaxAhead = ahead,
            MaxAge = age,
            From = 1000,
            Until = 1010,
        });
        VersionFact[] facts = version == 5
            ? [new("c", "x", 5, 100, 200), new("c", "x", 6, 600, 700)]
            : [new("c", "x", 5, 100, 200), new("c", "x", 6, 1020, 1030), new("c", "x", 7, 2000, 2100)];
        var found = BoundedCheck.Check(_history, facts);
        if (passes) Assert.Empty(found);
        else Finds(found, CheckerNames.Bounded);
    }

    [Fact]
    public void Bounded_read_of_an_old_uncommitted_version_is_found()
    {
        _history.Calls.Add(new ObjectCall("b", "c", ObjectMode.Bounded, 1, 2, ObjectFate.Done)
        {
            Seen = [new ObjectSeen("x", 6, "v")],
            MaxAhead = 1,
            MaxAge = 50,
            From = 1000,
            Until = 1010,
        });
        Finds(BoundedCheck.Check(_history, [new("c", "x", 6, 1500, 1600, WrittenBy: 900)]), CheckerNames.Bounded);
    }

    [Fact]
    public void Write_that_is_applied_twice_is_found()
    {
        Write("w1", 5, 1, 2, session: null);
        Finds(Once(new("w1", "c", 5), new("w1", "c", 7)), CheckerNames.Once);
    }

    [Fact]
    public void Refused_write_that_was_applied_is_found()
    {
        _history.Calls.Add(new ObjectCall("w1", "c", ObjectMode.Mutate, 1, 2, ObjectFate.Mismatch)
        {
            Acts = [new ObjectAct("x", ObjectActKind.Put, "v")],
        });
        Finds(Once(new AppliedWrite("w1", "c", 5)), CheckerNames.Once);
    }

    [Fact]
    public void Acknowledged_write_that_the_chain_does_not_have_is_found()
    {
        Write("w1", 5, 1, 2, session: null);
        Finds(Once(new AppliedWrite("w2", "c", 4)), CheckerNames.Once);
    }

    [Fact]
    public void Writes_as_told_pass()
    {
        Write("w1", 5, 1, 2, session: null);
        Write("w0", 1, 1, 2, session: null);
        Assert.Empty(Once(new("w1", "c", 5), new("unknown", "c", 6)));
    }

    [Fact]
    public void Write_skew_over_two_chains_is_found()
    {
        Transaction("a", 1, 10, TxFate.Committed, [("p/x", 1)], [("q/y", 2)]);
        Transaction("b", 2, 11, TxFate.Committed, [("q/y", 1)], [("p/x", 2)]);
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Fact]
    public void Half_of_a_transaction_is_found_by_a_snapshot()
    {
        Transaction("a", 1, 10, TxFate.Committed, [], [("p/x", 2), ("q/y", 2)]);
        Transaction("b", 2, 11, TxFate.Committed, [("p/x", 2), ("q/y", 1)], []);
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Fact]
    public void Old_snapshot_behind_a_commit_is_found()
    {
        Transaction("a", 1, 2, TxFate.Committed, [], [("p/x", 2)]);
        Transaction("b", 3, 4, TxFate.Committed, [("p/x", 1)], []);
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Fact]
    public void Aborted_transaction_that_was_read_is_found()
    {
        Transaction("a", 1, 2, TxFate.Aborted, [], [("p/x", 2)]);
        Transaction("b", 3, 4, TxFate.Committed, [("p/x", 2)], []);
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Fact]
    public void Transactions_in_some_order_pass_with_plain_writes_in_between()
    {
        Transaction("a", 1, 10, TxFate.Committed, [("p/x", 1)], [("p/x", 2), ("q/y", 5)]);
        Transaction("b", 2, 11, TxFate.Committed, [("p/x", 2), ("q/y", 5)], []);
        Transaction("c", 12, 13, TxFate.InDoubt, [], [("q/y", 6)]);
        Write("w", 3, 20, 21, session: null);
        Assert.Empty(TransactCheck.Check(_history));
    }

    [Fact]
    public void Parts_of_a_transaction_are_one_step()
    {
        Part("a", "p", 2, 1, 10, reads: 1);
        Part("a", "q", 2, 1, 10);
        Part("b", "p", 3, 11, 20, reads: 2);
        Part("b", "q", 3, 11, 20, reads: 2);
        Assert.Empty(TransactCheck.Check(_history));
    }

    [Fact]
    public void Parts_that_saw_two_moments_are_found()
    {
        Part("a", "p", 2, 1, 10);
        Part("a", "q", 2, 1, 10);
        Part("b", "p", 3, 2, 11, reads: 2);
        Part("b", "q", 1, 2, 11);
        Part("c", "q", 4, 12, 13, reads: 2);
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Fact]
    public void Parts_that_read_the_older_half_of_another_transaction_are_found()
    {
        Part("a", "p", 2, 1, 10);
        Part("a", "q", 2, 1, 10);
        Part("b", "p", 5, 2, 11, reads: 2, key: "y");
        Part("b", "q", 5, 2, 11, reads: 1, key: "y");
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Fact]
    public void Single_write_between_the_parts_of_a_transaction_is_found()
    {
        Part("a", "p", 2, 1, 10);
        Part("a", "q", 2, 1, 10);
        Part("w", "p", 3, 2, 3);
        Part("v", "q", 1, 4, 5);
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Fact]
    public void Committed_part_beside_a_refused_one_is_found()
    {
        Part("a", "p", 2, 1, 10);
        Part("a", "q", 0, 1, 10, fate: ObjectFate.Refused);
        Finds(TransactCheck.Check(_history), CheckerNames.Transact);
    }

    [Theory]
    [InlineData(new string[0], true)]
    [InlineData(new[] { "a in p", "a in q" }, true)]
    [InlineData(new[] { "a in p" }, false)]
    [InlineData(new[] { "a in q" }, false)]
    public void Transaction_of_unknown_outcome_is_whole_or_absent(string[] applied, bool passes)
    {
        Part("a", "p", 0, 1, ObjectHistory.Never, fate: ObjectFate.Unknown);
        Part("a", "q", 0, 1, ObjectHistory.Never, fate: ObjectFate.Unknown);
        var found = TransactCheck.Check(_history.Resolved(applied.Select(id => new AppliedWrite(id, id[5..], 2))));
        if (passes) Assert.Empty(found);
        else Finds(found, CheckerNames.Transact);
    }

    [Fact]
    public void Applied_transaction_of_unknown_outcome_has_a_place_in_the_order()
    {
        Part("a", "p", 0, 1, ObjectHistory.Never, fate: ObjectFate.Unknown);
        Part("a", "q", 0, 1, ObjectHistory.Never, fate: ObjectFate.Unknown);
        Part("b", "p", 5, 20, 21, reads: 2, key: "y");
        Part("b", "q", 5, 20, 21, reads: 1, key: "y");
        AppliedWrite[] applied = [new("a in p", "p", 2), new("a in q", "q", 2)];
        Finds(TransactCheck.Check(_history.Resolved(applied)), CheckerNames.Transact);
    }

    private List<Violation> Once(params AppliedWrite[] applied) =>
        OnceCheck.Check(_history, applied, static _ => (2, 1000));

    private static void Finds(List<Violation> found, string checker) =>
        Assert.Contains(found, violation => violation.Checker == checker);

    private void Transaction(string name, long began, long ended, TxFate fate, (string, long)[] reads,
        (string, long)[] writes) =>
        _history.Transactions.Add(new ObjectTransaction(name, began, ended, fate, reads, writes));

    // A part that puts a key; and reads x where a version is named.
    private void Part(string transaction, string chain, long version, long start, long end, long reads = 0,
        string key = "x", ObjectFate fate = ObjectFate.Done) =>
        _history.Calls.Add(new ObjectCall($"{transaction} in {chain}", chain, ObjectMode.Mutate, start, end, fate)
        {
            Version = version,
            Transaction = transaction,
            Seen = reads == 0 ? [] : [new ObjectSeen("x", reads, $"v{reads}")],
            Acts = [new ObjectAct(key, ObjectActKind.Put, transaction)],
        });

    private void Write(string id, long version, long start, long end, string? session) =>
        _history.Calls.Add(new ObjectCall(id, "c", ObjectMode.Mutate, start, end, ObjectFate.Done)
        {
            Version = version,
            Mark = version,
            Acts = [new ObjectAct("x", ObjectActKind.Put, id)],
            Session = session,
        });

    private void SessionRead(long version, long mark, long start, long end) =>
        _history.Calls.Add(Session("x", version, mark, start, end));

    private static ObjectCall Session(string key, long version, long mark, long start, long end) =>
        new("r", "c", ObjectMode.Session, start, end, ObjectFate.Done)
        {
            Seen = [new ObjectSeen(key, version, $"v{version}")],
            Mark = mark,
            Session = "s",
        };
}
