using Corfu.FaultRuns.Objects.Clients;
using Corfu.FaultRuns.Objects.Judging;

namespace Corfu.FaultRuns.Tests;

/// <summary>Errors planted in a history of the store: a judge that cannot fail proves nothing.</summary>
public sealed class StoreJudgeTests
{
    private const string East = "main-0";
    private const string West = "main-1";
    private const string Register = "r0";

    private static readonly string s_list = StoreKeys.List(0);
    private static readonly string s_tokens = StoreKeys.Tokens(0);

    [Fact]
    public void Good_history_is_judged_good()
    {
        var history = Good();
        Assert.Equal("lost=0 stale_strong=0 beyond_bound=0 torn=0", $"{StoreVerdict.Of(history)}");
        Assert.True(StoreVerdict.Of(history).IsGood);
        Assert.Equal(9, history.Writes);
        Assert.Equal(7, history.Reads);
    }

    [Fact]
    public void Object_that_is_older_at_the_end_than_an_acknowledged_write_is_lost()
    {
        var history = Good();
        SetFinal(history, East, new ObjectSeen(Register, 11, "va"));
        Assert.Contains(LostJudge.Judge(history), text => text.Contains("lacks", StringComparison.Ordinal));
    }

    [Fact]
    public void Object_that_is_absent_at_the_end_without_a_deletion_is_lost()
    {
        var history = Good();
        SetFinal(history, East, new ObjectSeen(Register, 0, null));
        Assert.Contains(LostJudge.Judge(history), text => text.Contains("lacks", StringComparison.Ordinal));
    }

    [Fact]
    public void Object_that_may_have_been_deleted_by_a_write_of_unknown_outcome_is_not_lost()
    {
        var history = Good();
        SetFinal(history, East, new ObjectSeen(Register, 0, null));
        var deletion = Write("d", East, 0, 70, ObjectHistory.Never, new ObjectAct(Register, ObjectActKind.Delete));
        history.Calls.Add(deletion with { Fate = ObjectFate.Unknown });
        Assert.Empty(LostJudge.Judge(history));
    }

    [Fact]
    public void Object_that_cannot_be_read_at_the_end_is_lost()
    {
        var history = Good();
        history.Final.RemoveAll(call => call.Chain == East);
        Assert.Contains(LostJudge.Judge(history), text => text.Contains("could not be read", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("b;", "lacks a;")]
    [InlineData("a;b;a;", "has a; 2 times")]
    public void List_without_an_acknowledged_item_or_with_a_repeated_one_is_lost(string list, string told)
    {
        var history = Good();
        SetFinal(history, East, new ObjectSeen(s_list, 14, list));
        Assert.Contains(LostJudge.Judge(history), text => text.Contains(told, StringComparison.Ordinal));
    }

    [Fact]
    public void Sum_without_an_acknowledged_addition_is_lost()
    {
        var history = Good();
        SetFinal(history, East, new ObjectSeen(StoreKeys.Counter, 15, "3"));
        Assert.Contains(LostJudge.Judge(history), text => text.Contains("make 7", StringComparison.Ordinal));
    }

    [Fact]
    public void Strong_read_of_an_overwritten_version_is_stale()
    {
        var history = Good();
        history.Calls.Add(Read("stale", ObjectMode.Strong, 60, 61, new ObjectSeen(Register, 11, "va")));
        Assert.NotEmpty(ReadJudge.Strong(history));
        Assert.Empty(LostJudge.Judge(history));
        Assert.Empty(ReadJudge.Weak(history));
    }

    [Fact]
    public void Strong_read_of_an_account_before_a_committed_transfer_is_stale()
    {
        var history = Good();
        history.Calls.Add(Read("stale", ObjectMode.Strong, 60, 61, new ObjectSeen(StoreKeys.Account, 10, "1000000")));
        Assert.NotEmpty(ReadJudge.Strong(history));
    }

    [Fact]
    public void Bounded_read_older_than_the_bound_is_beyond_the_bound()
    {
        var history = Good();
        var read = Read("old", ObjectMode.Bounded, 70, 71, new ObjectSeen(Register, 11, "va"));
        history.Calls.Add(read with { MaxAge = 10, MaxAhead = 3 });
        Assert.NotEmpty(ReadJudge.Weak(history));
        Assert.Empty(ReadJudge.Strong(history));
    }

    [Fact]
    public void Bounded_read_of_an_old_version_within_the_bound_is_good()
    {
        var history = Good();
        var read = Read("old", ObjectMode.Bounded, 70, 71, new ObjectSeen(Register, 11, "va"));
        history.Calls.Add(read with { MaxAge = 60, MaxAhead = 3 });
        Assert.Empty(ReadJudge.Weak(history));
    }

    [Fact]
    public void Bounded_read_ahead_of_a_later_strong_read_is_beyond_the_bound()
    {
        var history = Good();
        history.Calls.AddRange(
        [
            Write("late", East, 30, 70, 90, Put(Register, "vlate")),
            Read("ahead", ObjectMode.Bounded, 71, 72, new ObjectSeen(Register, 30, "vlate")),
            Read("behind", ObjectMode.Strong, 73, 74, new ObjectSeen(Register, 12, "vb")),
        ]);
        SetFinal(history, East, new ObjectSeen(Register, 30, "vlate"));
        Assert.NotEmpty(ReadJudge.Weak(history));
        Assert.Empty(ReadJudge.Strong(history));
    }

    [Fact]
    public void Bounded_read_of_a_dirty_version_without_leave_is_beyond_the_bound()
    {
        var history = Good();
        history.Calls.Add(Read("dirty", ObjectMode.Bounded, 60, 61, new ObjectSeen(Register, 12, "vb", IsDirty: true)));
        Assert.NotEmpty(ReadJudge.Weak(history));
    }

    [Fact]
    public void Session_with_an_older_read_is_beyond_the_promise()
    {
        var history = Good();
        history.Calls.AddRange(
        [
            Read("s1", ObjectMode.Session, 60, 61, new ObjectSeen(Register, 12, "vb"))
                with { Session = "s", Mark = 20 },
            Read("s2", ObjectMode.Session, 62, 63, new ObjectSeen(Register, 11, "va"))
                with { Session = "s", Mark = 20 },
        ]);
        Assert.NotEmpty(ReadJudge.Weak(history));
    }

    [Theory]
    [InlineData("vnobody", 12)]
    [InlineData("vb", 11)]
    public void Eventual_read_of_a_content_without_a_write_is_beyond_the_promise(string value, long version)
    {
        var history = Good();
        history.Calls.Add(Read("e", ObjectMode.Eventual, 60, 61, new ObjectSeen(Register, version, value)));
        Assert.NotEmpty(ReadJudge.Weak(history));
    }

    [Fact]
    public void Snapshot_of_a_half_written_pair_is_torn()
    {
        var history = Good();
        history.Calls.Add(Read("torn", ObjectMode.Mutate, 60, 61,
            new ObjectSeen(StoreKeys.Pair[0], 13, "vp"), new ObjectSeen(StoreKeys.Pair[1], 10, "vstart")));
        Assert.Contains(TornJudge.Judge(history), text => text.Contains("seen in part", StringComparison.Ordinal));
    }

    [Fact]
    public void Snapshot_whose_accounts_have_another_sum_is_torn()
    {
        var history = Good();
        history.Transactions.Add(Snapshot("torn", 60, 61,
            [new ObjectSeen(StoreKeys.Account, 10, "1000000")], [new ObjectSeen(StoreKeys.Account, 22, "999995")]));
        Assert.Contains(TornJudge.Judge(history), text => text.Contains("the sum is", StringComparison.Ordinal));
    }

    [Fact]
    public void Snapshot_with_a_token_in_one_chain_is_torn()
    {
        var history = Good();
        history.Transactions.Add(Snapshot("torn", 60, 61,
            [new ObjectSeen(s_tokens, 23, "t;")], [new ObjectSeen(s_tokens, 21, "")]));
        Assert.Contains(TornJudge.Judge(history), text => text.Contains("t is seen in part", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(TxFate.Committed)]
    [InlineData(TxFate.InDoubt)]
    public void Token_in_one_chain_at_the_end_is_torn(TxFate fate)
    {
        var history = Good();
        history.Transactions[1] = history.Transactions[1] with { Fate = fate };
        SetFinal(history, West, new ObjectSeen(s_tokens, 21, ""));
        Assert.Contains(TornJudge.Judge(history), text => text.Contains("in part", StringComparison.Ordinal));
    }

    [Fact]
    public void Token_of_an_aborted_transaction_is_torn()
    {
        var history = Good();
        history.Transactions[1] = history.Transactions[1] with { Fate = TxFate.Aborted };
        Assert.Contains(TornJudge.Judge(history), text => text.Contains("all the same", StringComparison.Ordinal));
    }

    [Fact]
    public void Snapshots_that_see_two_transfers_in_different_orders_are_torn()
    {
        var history = Good();
        // The first has East's later state and West's earlier one, and nothing else contradicts them.
        history.Transactions.Add(Snapshot("skewed", 30, 80,
            [new ObjectSeen("r1", 26, "vn")], [new ObjectSeen("r1", 20, "vo")]));
        history.Transactions.Add(Transaction("both", 35, 70, Part(East, 26, Put("r1", "vn")),
            Part(West, 27, Put("r1", "vn"))));
        history.Calls.Add(Write("r1", West, 20, 3, 4, Put("r1", "vo")));
        Assert.NotEmpty(TornJudge.Judge(history));
    }

    /// <summary>Two registers' writes, a list, a counter, a pair, a transfer and a token, and what is left.</summary>
    private static StoreHistory Good()
    {
        var history = new StoreHistory();
        history.Calls.AddRange(
        [
            Write("start", East, 10, 1, 2, Put(StoreKeys.Account, "1000000"), Put(StoreKeys.Counter, "0"),
                Put(StoreKeys.Pair[0], "vstart"), Put(StoreKeys.Pair[1], "vstart"), Put(s_list, ""), Put(s_tokens, "")),
            Write("start-west", West, 21, 1, 2, Put(StoreKeys.Account, "1000000"), Put(s_tokens, "")),
            Write("a", East, 11, 5, 6, Put(Register, "va")),
            Read("ra", ObjectMode.Strong, 7, 8, new ObjectSeen(Register, 11, "va")),
            Write("b", East, 12, 9, 20, Put(Register, "vb")),
            Read("rb", ObjectMode.Bounded, 12, 13, new ObjectSeen(Register, 11, "va")) with { MaxAge = 100 },
            Write("p", East, 13, 21, 22, Put(StoreKeys.Pair[0], "vp"), Put(StoreKeys.Pair[1], "vp")),
            Write("l", East, 14, 23, 24, new ObjectAct(s_list, ObjectActKind.Append, "a;")),
            Write("n", East, 15, 25, 26, new ObjectAct(StoreKeys.Counter, ObjectActKind.Add, Delta: 7, Sum: 7)),
            Read("rp", ObjectMode.Mutate, 27, 28, new ObjectSeen(StoreKeys.Pair[0], 13, "vp"),
                new ObjectSeen(StoreKeys.Pair[1], 13, "vp")),
        ]);
        history.Transactions.Add(Transaction("x", 30, 40,
            Part(East, 22, Add(5, 1_000_005)), Part(West, 22, Add(-5, 999_995))));
        history.Transactions.Add(Transaction("y", 41, 45,
            Part(East, 23, new ObjectAct(s_tokens, ObjectActKind.Append, "t;")),
            Part(West, 23, new ObjectAct(s_tokens, ObjectActKind.Append, "t;"))));
        history.Transactions.Add(Snapshot("z", 50, 55,
            [new ObjectSeen(StoreKeys.Account, 22, "1000005"), new ObjectSeen(s_tokens, 23, "t;")],
            [new ObjectSeen(StoreKeys.Account, 22, "999995"), new ObjectSeen(s_tokens, 23, "t;")]));
        history.Final.AddRange(
        [
            Read("fe", ObjectMode.Strong, 1000, 1001, new ObjectSeen(Register, 12, "vb"),
                new ObjectSeen(StoreKeys.Account, 22, "1000005"), new ObjectSeen(StoreKeys.Counter, 15, "7"),
                new ObjectSeen(StoreKeys.Pair[0], 13, "vp"), new ObjectSeen(StoreKeys.Pair[1], 13, "vp"),
                new ObjectSeen(s_list, 14, "a;"), new ObjectSeen(s_tokens, 23, "t;")),
            Read("fw", ObjectMode.Strong, 1000, 1001, new ObjectSeen(StoreKeys.Account, 22, "999995"),
                new ObjectSeen(s_tokens, 23, "t;")) with { Chain = West },
            Read("fr", ObjectMode.Strong, 1002, 1003),
        ]);
        return history;
    }

    private static void SetFinal(StoreHistory history, string chain, ObjectSeen seen)
    {
        var index = history.Final.FindIndex(call => call.Chain == chain);
        history.Final[index] = history.Final[index] with
        {
            Seen = [.. history.Final[index].Seen.Where(other => other.Key != seen.Key), seen],
        };
    }

    private static ObjectCall Write(
        string id, string chain, long version, long start, long end, params ObjectAct[] acts) =>
        new(id, chain, ObjectMode.Mutate, start, end, ObjectFate.Done)
        {
            Version = version,
            Acts = acts,
            From = start,
            Until = end,
        };

    private static ObjectCall Read(string id, ObjectMode mode, long start, long end, params ObjectSeen[] seen) =>
        new(id, East, mode, start, end, ObjectFate.Done) { Seen = seen, From = start, Until = end };

    private static ObjectAct Put(string key, string value) => new(key, ObjectActKind.Put, value);

    private static ObjectAct Add(long delta, ulong sum) =>
        new(StoreKeys.Account, ObjectActKind.Add, Delta: delta, Sum: sum);

    private static ObjectCall Part(string chain, long version, params ObjectAct[] acts) =>
        Write($"part-{version}", chain, version, 0, 0, acts);

    private static StoreTransaction Transaction(string id, long start, long end, params ObjectCall[] parts) =>
        new(id, start, end, TxFate.Committed, parts);

    private static StoreTransaction Snapshot(
        string id, long start, long end, ObjectSeen[] east, ObjectSeen[] west) => Transaction(id, start, end,
        Read("e", ObjectMode.Mutate, 0, 0, east), Read("w", ObjectMode.Mutate, 0, 0, west) with { Chain = West });
}
