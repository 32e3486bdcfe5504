using System.Collections.Immutable;
using System.Text;
using Corfu.WebConsole.Reading;

namespace Corfu.WebConsole.Tests;

/// <summary>Transactions of a window, decided without the types of their objects.</summary>
public sealed class TransactionJudgeTests
{
    private const ulong Orders = 300;
    private const ulong Stock = 301;

    [Fact]
    public void Read_of_a_key_that_was_written_since_loses_to_that_write()
    {
        var judged = Judge(
            Update(10, runtime: 7, Orders, "7781"),
            Commit(12, runtime: 8, snapshot: 10, [Read(Orders, "7781")], Write(Orders, "7781")));
        var one = Assert.Single(judged);
        Assert.Equal(Outcome.Aborted, one.Outcome);
        Assert.Equal(new RecordPlace(10, 0), one.Loss!.Winner);
        Assert.Equal(7UL, one.Loss.Runtime);
    }

    [Theory]
    [InlineData("another")]
    [InlineData("7781")]
    public void Read_that_no_write_has_overwritten_since_commits(string key)
    {
        var snapshot = key == "7781" ? 11 : 10;
        var judged = Judge(
            Update(10, runtime: 7, Orders, key),
            Commit(12, runtime: 8, snapshot, [Read(Orders, "7781")]));
        Assert.Equal(Outcome.Committed, Assert.Single(judged).Outcome);
    }

    [Fact]
    public void Read_of_a_whole_object_loses_to_any_write_of_the_object()
    {
        var judged = Judge(
            Update(10, runtime: 7, Orders, "1"), Commit(12, runtime: 8, snapshot: 10, [new ReadPart(Orders, null)]));
        Assert.Equal(Outcome.Aborted, Assert.Single(judged).Outcome);
    }

    [Fact]
    public void Read_of_a_key_loses_to_a_write_without_a_key()
    {
        var judged = Judge(
            Update(10, runtime: 7, Orders, null), Commit(12, runtime: 8, snapshot: 10, [Read(Orders, "7781")]));
        Assert.Equal(new RecordPlace(10, 0), Assert.Single(judged).Loss!.Winner);
    }

    [Theory]
    [InlineData("a", true)]
    [InlineData("b", true)]
    [InlineData("c", false)]
    public void Read_of_a_key_loses_to_a_write_of_several_keys_if_named(string read, bool loses)
    {
        var judged = Judge(
            Item(10, 7, new UpdateRecord(0, new TangoCallRecord(Orders, 1, [Key("a")!, Key("b")!], default, 0))),
            Commit(12, runtime: 8, snapshot: 10, [Read(Orders, read)]));
        Assert.Equal(loses ? Outcome.Aborted : Outcome.Committed, Assert.Single(judged).Outcome);
    }

    [Fact]
    public void Writes_of_a_lost_transaction_defeat_no_other()
    {
        var judged = Judge(
            Update(10, runtime: 7, Orders, "a"),
            Commit(11, runtime: 8, snapshot: 10, [Read(Orders, "a")], Write(Stock, "b")),
            Commit(12, runtime: 9, snapshot: 11, [Read(Stock, "b")]));
        Assert.Equal([Outcome.Aborted, Outcome.Committed], judged.Select(one => one.Outcome));
    }

    [Fact]
    public void Decision_in_the_log_counts_more()
    {
        var aborted = new AbortPart(1, Stock, Key("b"), new RecordPlace(3, 0));
        var judged = Judge(
            Commit(10, runtime: 8, snapshot: 10, [Read(Stock, "b")]),
            Item(11, 8, new DecisionRecord(0, new RecordPlace(10, 0), aborted)));
        var one = Assert.Single(judged);
        Assert.Equal(Outcome.Aborted, one.Outcome);
        Assert.Equal(new RecordPlace(3, 0), one.Loss!.Winner);
    }

    /// <summary>R29: whatever the window shows of what was read.</summary>
    [Fact]
    public void Record_that_the_sequencer_decided_has_committed()
    {
        // [2, 7, 0, [[2, flags 2, 5, [[300, nil]], [], []]]]
        byte[] payload = [0x94, 2, 7, 0, 0x91, 0x96, 2, 2, 5, 0x91, 0x92, 0xcd, 0x01, 0x2c, 0xc0, 0x90, 0x90];
        var (runtime, records) = TangoRecordReader.Read(payload);
        var judged = Judge(Update(10, runtime: 9, Orders, "7781"), Item(12, runtime, Assert.Single(records)));
        var one = Assert.Single(judged);
        Assert.Equal((7UL, Orders, Outcome.Committed), (one.Runtime, Assert.Single(one.Reads).Object, one.Outcome));
    }

    [Fact]
    public void Snapshot_below_the_window_is_not_decided_here()
    {
        var judged = Judge(
            Update(10, runtime: 7, Stock, "x"), Commit(12, runtime: 8, snapshot: 5, [Read(Orders, "7781")]));
        Assert.Equal(Outcome.Unknown, Assert.Single(judged).Outcome);
    }

    private static ImmutableArray<JudgedTransaction> Judge(params ImmutableArray<LogItem> window) =>
        TransactionJudge.Judge(window);

    private static LogItem Update(long position, ulong runtime, ulong id, string? key) =>
        Item(position, runtime, new UpdateRecord(0, Write(id, key)));

    private static LogItem Commit(
        long position, ulong runtime, long snapshot, ImmutableArray<ReadPart> reads,
        params ImmutableArray<TangoCallRecord> writes) =>
        Item(position, runtime, new CommitRecord(0, false, false, snapshot, reads, writes, []));

    private static LogItem Item(long position, ulong runtime, TangoRecord record) => new(
        new LogPosition(position), PageState.Data, DateTimeOffset.UnixEpoch, [], 100, runtime, [record]);

    private static ReadPart Read(ulong id, params ImmutableArray<string> keys) => new(id, [.. keys.Select(Key)!]);

    private static TangoCallRecord Write(ulong id, string? key) =>
        new(id, 1, key is null ? null : [Key(key)!], default, 0);

    private static byte[]? Key(string? key) => key is null ? null : Encoding.UTF8.GetBytes(key);
}
