using Salus.Region.Recovery;
using static Salus.Region.Tests.Recovery.TestHistory;

namespace Salus.Region.Tests.Recovery;

/// <summary>The merged log, by the executions that the rules prevent.</summary>
public sealed class LogMergeTests
{
    private static readonly LogBase s_begin = new(0, default);

    private readonly TestHistory _history = new();

    [Fact]
    public void New_region_has_an_empty_log()
    {
        _history.Create(1, 2, 3);
        var merged = Merge(_history.Recovering(1, 2, 3), Listing(1), Listing(2));
        Assert.Equal((0L, default, false), (merged.LastIndex, merged.Chain, merged.IsShort));
    }

    [Fact]
    public void Records_that_two_stores_lost_in_different_places_are_whole_together()
    {
        Fill(9);
        var merged = Merge(_history.Recovering(1, 4, 5), Listing(1, but: [5]), Listing(2, but: [9]));
        Assert.Equal(_history.Log.Select(record => record.Head), merged.Records.Select(record => record.Head));
        Assert.Equal([StoreOf(2)], merged.Records[4].Stores);
        Assert.Equal([StoreOf(1), StoreOf(2)], merged.Records[0].Stores);
    }

    [Fact]
    public void Gap_ends_the_prefix_and_is_told()
    {
        Fill(9);
        var merged = Merge(_history.Recovering(1, 4, 5), Listing(1, but: [6]), Listing(2, but: [6, 9]));
        Assert.Equal((5L, 9L, true), (merged.LastIndex, merged.Seen, merged.IsShort));
    }

    [Fact]
    public void Longer_log_counts_whichever_store_is_heard_first()
    {
        Fill(9);
        Assert.Equal(9, Merge(_history.Recovering(1, 4, 5), Listing(1, but: [7, 8, 9]), Listing(2)).LastIndex);
        Assert.Equal(9, Merge(_history.Recovering(1, 4, 5), Listing(2), Listing(1, but: [7, 8, 9])).LastIndex);
    }

    [Fact]
    public void Valid_certificate_vouches_for_records_whose_own_is_damaged()
    {
        Fill(4);
        var listing = Listing(1);
        var merged = Merge(_history.Recovering(1, 4, 5), listing with
        {
            Records = [.. listing.Records.Select(static record =>
                record.Head.Index < 4 ? Damage(record) : record)],
        });
        Assert.Equal(4, merged.LastIndex);
        // The newest one vouches for itself alone.
        merged = Merge(_history.Recovering(1, 4, 5), listing with
        {
            Records = [.. listing.Records.Select(static record =>
                record.Head.Index > 2 ? Damage(record) : record)],
        });
        Assert.Equal(2, merged.LastIndex);
    }

    [Fact]
    public void Certificate_of_another_store_is_taken_where_one_is_damaged()
    {
        Fill(2);
        var damaged = Listing(1);
        damaged = damaged with { Records = [.. damaged.Records.Select(Damage)] };
        var merged = Merge(_history.Recovering(1, 4, 5), damaged, Listing(2));
        Assert.Equal(_history.Log.Select(record => record.Certificate),
            merged.Records.Select(record => record.Certificate));
    }

    /// <summary>S9: a store that was away brings certified records of a generation that is over.</summary>
    [Fact]
    public void Records_of_an_older_generation_count_below_the_opening_alone()
    {
        Fill(9);
        _history.Replace(8, isAdmitted: true, 1, 2, 4);
        var merged = Merge(_history.Recovering(1, 4, 5), Listing(3), Listing(1));
        Assert.Equal(_history.Log[^1].Head.Chain, merged.Chain);
        // Alone, the store that was away shows what lies below the opening.
        merged = Merge(_history.Recovering(1, 4, 5), Listing(3));
        Assert.Equal((8L, true), (merged.LastIndex, merged.IsShort));
    }

    /// <summary>S9: certificates of a generation that is over prove nothing above the next one's opening, so that no
    /// recovery waits for what stood there.</summary>
    [Fact]
    public void Records_of_an_older_generation_above_the_opening_make_no_log_short()
    {
        Fill(10);
        _history.Replace(8, isAdmitted: true, 1, 2, 4);
        var merged = Merge(_history.Recovering(1, 4, 5), Listing(3), Listing(1));
        Assert.Equal((9L, 9L, false), (merged.LastIndex, merged.Seen, merged.IsShort));
    }

    /// <summary>S9: a generation that was read from damaged stores and replaced at once.</summary>
    [Fact]
    public void Opening_that_was_not_admitted_is_no_anchor()
    {
        Fill(9);
        _history.Replace(5, isAdmitted: false, 1, 4, 5);
        var merged = Merge(_history.Recovering(4, 5, 6), Listing(1), Listing(4));
        Assert.Equal((9L, _history.Log[^1].Head.Chain), (merged.LastIndex, merged.Chain));
        Assert.DoesNotContain(merged.Records, static record => record.Head.Generation > Epoch.First);
    }

    [Fact]
    public void Copies_in_stores_of_a_generation_that_was_not_admitted_count()
    {
        Fill(9);
        _history.Replace(9, isAdmitted: false, 4, 5, 6);
        var merged = Merge(_history.Recovering(4, 5, 6), Listing(4));
        Assert.Equal((9L, _history.Log[^1].Head.Chain), (merged.LastIndex, merged.Chain));
    }

    [Fact]
    public void Opening_on_the_log_vouches_for_records_of_forgotten_generations()
    {
        Fill(9);
        _history.Replace(9, isAdmitted: true, 1, 2, 4);
        var state = _history.Recovering(1, 4, 5);
        state = state with { Past = state.Past[1..] };
        var damaged = Listing(1);
        damaged = damaged with { Records = [.. damaged.Records.Select(Damage)] };
        Assert.Equal(10, Merge(state, damaged).LastIndex);
        // Without the opening, nothing tells whether records of the forgotten generation are the region's.
        var merged = Merge(state, Listing(3));
        Assert.Equal((0L, 10L), (merged.LastIndex, merged.Seen));
    }

    /// <summary>S10: the base is the newest manifest; a store that lost records below it lacks nothing.</summary>
    [Fact]
    public void Log_begins_at_the_base()
    {
        Fill(9);
        var state = _history.Recovering(1, 4, 5);
        var begin = new LogBase(6, _history.Log[5].Head.Chain);
        var merged = LogMerge.Of(Key, begin, LogLine.Of(state), [Listing(1, but: [1, 2, 3, 4])]);
        Assert.Equal((9L, 5L), (merged.LastIndex, merged.Records[0].Head.Index));
        merged = LogMerge.Of(Key, begin, LogLine.Of(state), [Listing(1, but: [1, 2, 3, 4, 5, 6])]);
        Assert.Equal([7L, 8L, 9L], merged.Records.Select(record => record.Head.Index));
        // Another base is another region's: nothing is linked to it.
        merged = LogMerge.Of(Key, begin with { Chain = new Hash128(5) }, LogLine.Of(state), [Listing(1)]);
        Assert.Equal((6L, true), (merged.LastIndex, merged.IsShort));
    }

    [Fact]
    public void Records_of_another_region_are_passed_over()
    {
        Fill(3);
        var listing = Listing(1);
        var merged = Merge(_history.Recovering(1, 4, 5), listing with
        {
            Records = [.. listing.Records.Select(static record =>
                record with { Head = record.Head with { Region = Key with { Region = 4 } } })],
        });
        Assert.Equal(0, merged.LastIndex);
    }

    private static MergedLog Merge(RegionState state, params StoreListing[] listings) =>
        LogMerge.Of(Key, s_begin, LogLine.Of(state), listings);

    private static ListedRecord Damage(ListedRecord record) => record with
    {
        Certificate = record.Certificate with
        {
            Signatures = record.Certificate.Signatures.SetItem(1, new WeakSignature(new Hash128(7))),
        },
    };

    private void Fill(int records)
    {
        _history.Create(1, 2, 3);
        for (var i = 0; i < records; i++) _history.Append(3);
    }

    private StoreListing Listing(int store, long[]? but = null) => new(StoreOf(store),
    [
        .. _history.Stores[StoreOf(store)].Where(record => but?.Contains(record.Head.Index) != true)
            .OrderBy(static record => record.Head.Index).Select(List),
    ]);
}
