using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

/// <summary>Declarations of token requests are decided as positions are granted.</summary>
public sealed class DecisionTests
{
    private const ulong X = 300;
    private const ulong Y = 301;
    private const ulong K = 7;
    private const ulong L = 8;

    [Fact]
    public void Read_of_a_cell_that_was_written_is_refused_with_the_position()
    {
        var core = Setup.Started();
        core.Token(5, Y);
        core.Grant(Writes(Key(X, K)));
        var ruling = core.Decide(Writes(Key(X, L)) with { Since = At(core, 5), Reads = [Key(X, K)] });
        Assert.Equal(new Refusal(0, RefusalReason.Written, Key(X, K), At(core, 5)), ruling.Refused.Single());
        Assert.False(ruling.IsGranted);
        Assert.Equal(6, core.Tail.Offset);
        Assert.True(core.Decide(Writes(Key(X, L)) with { Since = At(core, 6), Reads = [Key(X, K)] }).IsGranted);
    }

    [Fact]
    public void Writes_of_other_cells_and_streams_are_no_conflict()
    {
        var core = Setup.Started();
        core.Grant(Writes(Key(X, L)));
        core.Token(1, Y);
        Assert.True(core.Decide(Writes(Key(X, K)) with { Since = At(core, 0), Reads = [Key(X, K)] }).IsGranted);
    }

    [Theory]
    [InlineData(ScopeKind.None, true, true, true)]
    [InlineData(ScopeKind.Keyed, false, false, true)]
    [InlineData(ScopeKind.Whole, false, false, true)]
    [InlineData(ScopeKind.Unit, false, false, false)]
    public void Write_of_a_kind_meets_reads(ScopeKind kind, bool keyed, bool whole, bool unit)
    {
        foreach (var (read, passes) in new[] { (Key(X, K), keyed), (Whole(X), whole), (Unit(X), unit) })
        {
            var core = Setup.Started();
            core.Grant(Writes(new CellScope(new StreamId(X), kind, kind == ScopeKind.Keyed ? K : 0)));
            var record = new DeclaredRecord([Whole(X)], At(core, 0), [read]);
            Assert.Equal(passes, core.Decide(record).IsGranted);
        }
    }

    /// <summary>R24: a writer that declares nothing may have written anything.</summary>
    [Fact]
    public void Undeclared_grant_counts_as_a_write_of_everything()
    {
        foreach (var read in new[] { Key(X, K), Whole(X), Unit(X) })
        {
            var core = Setup.Started();
            core.Token(1, X);
            Assert.False(core.Decide(new DeclaredRecord([Whole(X)], At(core, 0), [read])).IsGranted);
        }
    }

    /// <summary>A declaration narrows the streams that it names, and no other (R24).</summary>
    [Fact]
    public void Stream_that_no_record_names_is_written_whole()
    {
        var core = Setup.Started();
        var declaration = new Declaration([Writes(Key(X, K))]);
        Assert.True(core.Ask([X, Y], declaration).Rulings.Single().IsGranted);
        Assert.False(core.Decide(new DeclaredRecord([Whole(X)], At(core, 0), [Unit(Y)])).IsGranted);

        // By the same entry too.
        var own = new Declaration([new DeclaredRecord([Key(X, K)], At(core, 1), [Key(Y, K)])]);
        Assert.Equal(At(core, 1), core.Ask([X, Y], own).Rulings.Single().Refused.Single().Position);
    }

    /// <summary>R25: two of an entry read x = 1, and both set 2.</summary>
    [Fact]
    public void Records_of_one_entry_are_decided_one_by_one()
    {
        var core = Setup.Started();
        var increment = new DeclaredRecord([Key(X, K)], At(core, 0), [Key(X, K)]);
        var ruling = core.Decide(increment, increment, Writes(Key(X, L)));
        Assert.True(ruling.IsGranted);
        Assert.Equal(new Refusal(1, RefusalReason.Written, Key(X, K), At(core, 0)), ruling.Refused.Single());
    }

    /// <summary>A token of a run meets the writes of those before it (R25).</summary>
    [Fact]
    public void Refused_tokens_of_a_run_get_no_position()
    {
        var core = Setup.Started();
        var increment = new Declaration([new DeclaredRecord([Key(X, K)], At(core, 0), [Key(X, K)])]);
        var other = new Declaration([new DeclaredRecord([Key(X, L)], At(core, 0), [Key(X, L)])]);
        var response = core.Ask([X], increment, increment, other, increment);
        Assert.Equal([true, false, true, false], response.Rulings.Select(r => r.IsGranted));
        Assert.Equal((0, 2), (response.First.Offset, core.Tail.Offset));
        Assert.Equal([1, 0], core.TailOf(X).Tails.Single().Offsets());
        Assert.Equal([0], core.Grants(1).Single().Previous.Single().Offsets());
    }

    [Fact]
    public void Refused_request_leaves_no_trace()
    {
        var core = Setup.Started();
        core.Token(1, X);
        var response = core.Ask([X, Y], new Declaration([new DeclaredRecord([Key(Y, K)], At(core, 0), [Whole(X)])]));
        Assert.Equal(Status.Ok, response.Status);
        Assert.Equal((1, 1, 0), (core.Tail.Offset, core.StreamCount, core.CellCount));
        Assert.Equal([0], core.TailOf(X).Tails.Single().Offsets());
    }

    /// <summary>R26: k is written twice, and the cells of an older position make room.</summary>
    [Theory]
    [InlineData(1, K, K, L)]
    [InlineData(3, K, L, L, K, 9ul)]
    public void Cell_that_was_written_again_stays(long newest, params ulong[] cells)
    {
        var core = Setup.Started(options: new SequencerOptions { MaxCells = 2 });
        foreach (var cell in cells) core.Grant(Writes(Key(X, cell)));
        var ruling = core.Decide(new DeclaredRecord([Key(X, 10)], At(core, newest), [Key(X, K)]));
        Assert.Equal((RefusalReason.Written, newest), (ruling.Refused[0].Reason, ruling.Refused[0].Position.Offset));
    }

    /// <summary>A tail at or above the mark is still ruled on (R26).</summary>
    [Fact]
    public void Position_is_forgotten_whole_and_the_mark_rises()
    {
        var core = Setup.Started(options: new SequencerOptions { MaxCells = 3 });
        core.Grant(Writes(Key(X, 1), Key(X, 2), Key(X, 3)));
        core.Grant(Writes(Key(X, 4)));
        Assert.Equal((1, 1L), (core.CellCount, core.CellMark));
        var ruling = core.Decide(new DeclaredRecord([Key(X, 5)], At(core, 0), [Key(X, 1)]));
        Assert.Equal(new Refusal(0, RefusalReason.TooOld, Key(X, 1), At(core, 1)), ruling.Refused.Single());
        Assert.True(core.Decide(new DeclaredRecord([Key(X, 5)], At(core, 1), [Key(X, 1)])).IsGranted);
    }

    [Fact]
    public void Entry_with_more_cells_than_there_is_room_for_raises_the_mark_above_itself()
    {
        var core = Setup.Started(options: new SequencerOptions { MaxCells = 2 });
        core.Grant(Writes(Key(X, 1), Key(X, 2), Key(X, 3)));
        Assert.False(core.Decide(new DeclaredRecord([Key(X, 5)], At(core, 0), [Key(X, 1)])).IsGranted);
        Assert.True(core.Decide(new DeclaredRecord([Key(X, 5)], At(core, 1), [Key(X, 1)])).IsGranted);
    }

    /// <summary>R27: k is written at 5, the next epoch begins at 8, and its table is empty.</summary>
    [Fact]
    public void Tail_below_the_start_is_refused()
    {
        var core = Setup.Started(5, 0);
        core.Token(5, Y);
        core.Grant(Writes(Key(X, K)));
        var since = At(core, 3);
        core.Bootstrap(6, 8);
        core.Load(X, 5);
        foreach (var tail in new[] { since, new LogPosition(3, core.Epoch) })
        {
            var ruling = core.Decide(new DeclaredRecord([Key(X, K)], tail, [Key(X, K)]));
            Assert.Equal(new Refusal(0, RefusalReason.TooOld, default, At(core, 8)), ruling.Refused.Single());
        }
    }

    /// <summary>R27: the tail is 10 in epoch 5; epoch 6 begins at 9, and k is written at 9.</summary>
    [Fact]
    public void Tail_of_another_epoch_is_refused()
    {
        var core = Setup.Started(5, 0);
        core.Token(10, X);
        var since = At(core, 10);
        core.Bootstrap(6, 9);
        core.Load(X, 8);
        core.Grant(Writes(Key(X, K)));
        var record = new DeclaredRecord([Key(X, K)], since, [Key(X, K)]);
        Assert.Equal(RefusalReason.TooOld, core.Decide(record).Refused.Single().Reason);
        Assert.True(core.Decide(record with { Since = At(core, 10) }).IsGranted);
    }

    [Fact]
    public void Tail_that_was_never_answered_is_refused()
    {
        var core = Setup.Started();
        Assert.False(core.Decide(new DeclaredRecord([Key(X, K)], At(core, 1), [])).IsGranted);
        Assert.True(core.Decide(new DeclaredRecord([Key(X, K)], At(core, 0), [])).IsGranted);
    }

    /// <summary>R31: as many cells as buckets, of which some meet.</summary>
    [Fact]
    public void Cells_that_share_a_bucket_are_told_apart()
    {
        var core = Setup.Started(options: new SequencerOptions { MaxCells = 64 });
        for (ulong cell = 0; cell < 64; cell++) core.Grant(Writes(Key(X, cell)));
        for (ulong cell = 0; cell < 64; cell++)
        {
            var ruling = core.Decide(new DeclaredRecord([Key(X, 99)], At(core, 0), [Key(X, cell)]));
            Assert.Equal((RefusalReason.Written, (long)cell),
                (ruling.Refused[0].Reason, ruling.Refused[0].Position.Offset));
        }
    }

    /// <summary>R32: a deletion writes the unit; writes of a member do not.</summary>
    [Fact]
    public void Unit_is_written_by_a_unit_write_alone()
    {
        var core = Setup.Started();
        core.Grant(Writes(Whole(X)));
        core.Grant(Writes(Key(X, K)));
        var member = new DeclaredRecord([Key(Y, K)], At(core, 0), [Unit(X), Key(Y, K)]);
        Assert.True(core.Decide(member).IsGranted);
        core.Grant(Writes(Unit(X)));
        Assert.False(core.Decide(member with { Since = At(core, 3) }).IsGranted);
    }

    [Fact]
    public void Sequencer_without_decisions_grants_all_and_gives_no_ruling()
    {
        var core = Setup.Started(options: new SequencerOptions { Decide = false });
        core.Token(1, X);
        var response = core.Ask([X], new Declaration([new DeclaredRecord([Key(X, K)], At(core, 0), [Whole(X)])]));
        Assert.Equal((1, 0), (response.First.Offset, response.Rulings.Length));
        Assert.Equal(2, core.Tail.Offset);
    }

    [Fact]
    public void Declarations_that_do_not_fit_the_request_are_refused()
    {
        var core = Setup.Started();
        var declaration = new Declaration([Writes(Key(X, K))]);
        Assert.Equal(Status.BadRequest, core.Ask([Y], declaration).Status);
        Assert.Equal(Status.BadRequest, core.Handle(
            new TokenRequest(core.Epoch, 2, Setup.Ids(X)) { Declarations = [declaration] }).Status);
        Assert.Equal(0, core.Tail.Offset);
    }

    [Theory]
    [InlineData(64, Status.Ok)]
    [InlineData(65, Status.BadRequest)]
    public void Tokens_times_streams_of_declarations_are_bounded(int tokens, Status status)
    {
        var core = Setup.Started();
        var streams = Enumerable.Range(1, 1024).Select(static n => new StreamId((ulong)n));
        var response = core.Handle(new TokenRequest(core.Epoch, tokens, [.. streams])
        {
            Declarations = [.. Enumerable.Repeat(Declaration.None, tokens)],
        });
        Assert.Equal((status, status == Status.Ok ? tokens : 0), (response.Status, core.Tail.Offset));
    }

    [Fact]
    public void Grown_table_of_cells_allocates_no_memory()
    {
        var table = new CellTable(64, static () => 1);
        for (ulong cell = 0; cell < 64; cell++) table.Write(X, cell, (long)cell);
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (long position = 64; position < 10_000; position++)
        {
            table.Write(X + (ulong)(position % 3), (ulong)position * 7 % 200, position);
            table.EndOf(X, (ulong)position % 200);
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.InRange(table.Count, 1, 64);
    }

    private static LogPosition At(SequencerCore core, long offset) => new(offset, core.Epoch);

    private static CellScope Key(ulong stream, ulong cell) => new(new StreamId(stream), ScopeKind.Keyed, cell);

    private static CellScope Whole(ulong stream) => new(new StreamId(stream), ScopeKind.Whole);

    private static CellScope Unit(ulong stream) => new(new StreamId(stream), ScopeKind.Unit);

    private static DeclaredRecord Writes(params ReadOnlySpan<CellScope> writes) => new([.. writes], null, []);
}
