using System.Collections.Immutable;
using Tango.Formatting;
using Pair = System.Collections.Generic.KeyValuePair<string, int>;

namespace Tango.Collections.Tests;

public sealed class SortedTests
{
    [Fact]
    public async Task R18_no_phantom_enters_a_scanned_range()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await runtime.OpenAsync<TangoSortedDictionary<string, int>>("object", OpenMode.Create);
        TangoSortedDictionary<string, int> other = await cluster.OpenAsync<TangoSortedDictionary<string, int>>();
        await map.SetAsync("jobs/1", 5);
        await map.SetAsync("users/1", 7);
        Func<ValueTask>[] conflicts =
        [
            () => other.SetAsync("jobs/2", 1), async () => await other.RemoveAsync("jobs/2"),
            () => other.SetAsync("jobs/1", 6),
        ];
        foreach (Func<ValueTask> conflict in conflicts)
        {
            await using TangoTransaction tx = runtime.BeginTx();
            int sum = (await map.ScanAsync(KeyRange.Prefix("jobs/"))).Sum(pair => pair.Value);
            await map.SetAsync("sum", sum);
            await conflict();
            var aborted = Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
            Assert.Equal(AbortReason.Conflict, aborted.Reason);
            Assert.Equal(ObjectKey.None, aborted.Key);
        }

        Assert.False(await map.ContainsKeyAsync("sum"));
        Assert.True((await runtime.RunTransactionAsync(async _ => await map.SetAsync(
            "sum", (await map.ScanAsync(KeyRange.Prefix("jobs/"))).Sum(pair => pair.Value)))).IsCommitted);
        Assert.Equal(6, (await other.TryGetAsync("sum")).Value);
    }

    [Fact]
    public async Task R18_operations_on_different_keys_do_not_conflict()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await runtime.OpenAsync<TangoSortedDictionary<string, int>>("map", OpenMode.Create);
        var set = await runtime.OpenAsync<TangoSortedSet<string>>("set", OpenMode.Create);
        await using TangoTransaction tx = runtime.BeginTx(new TransactionOptions { Explicit = true });
        Assert.True(await tx.Use(map).TryAddAsync("a", 1));
        Assert.True(await tx.Use(set).AddAsync("a"));
        await map.SetAsync("b", 2);
        await set.EnsureAsync("b");
        (await tx.EndTxAsync()).ThrowIfNotCommitted();
        Assert.Equal(["a", "b"], (await map.SnapshotAsync()).Keys);
        Assert.Equal(["a", "b"], await set.SnapshotAsync());
    }

    [Fact]
    public async Task Snapshot_stays_unchanged_while_being_enumerated()
    {
        await using var cluster = new Cluster();
        TangoSortedDictionary<string, int> map = await cluster.OpenAsync<TangoSortedDictionary<string, int>>();
        for (int i = 0; i < 10; i++) await map.SetAsync($"k{i}", i);
        var seen = new List<Pair>();
        foreach (Pair pair in await map.SnapshotAsync())
        {
            seen.Add(pair);
            await map.SetAsync($"k{pair.Value}+", -1);
            await map.RemoveAsync($"k{9 - pair.Value}");
        }

        Assert.Equal(Enumerable.Range(0, 10).Select(i => new Pair($"k{i}", i)), seen);
        Assert.All(await map.SnapshotAsync(), pair => Assert.Equal(-1, pair.Value));
    }

    [Fact]
    public void A_checkpoint_keeps_the_order_and_the_ranges()
    {
        var view = new View<TangoSortedDictionary<string, int>>();
        foreach (string key in (string[])["b", "a", "B", "ä"])
            view.Apply(1, Bytes.Key(key), Bytes.Arguments(key.Length));
        view.Reload();
        Assert.True(view.Apply<bool>(4, Bytes.Key("b"), Bytes.NoArguments));
        view.Apply(1, Bytes.Key("aa"), Bytes.Arguments(2));
        Assert.Equal([new Pair("B", 1), new Pair("a", 1), new Pair("aa", 2), new Pair("ä", 1)],
            view.Read<ImmutableArray<Pair>>("ReadScan", KeyRange<string>.All));
        view.Apply(7, Bytes.NoKey, Bytes.NoArguments);
        view.Reload();
        Assert.Empty(view.Read<ImmutableArray<Pair>>("ReadScan", KeyRange<string>.All));
    }

    /// <summary>The immutable map does not store a value that is equal to the old one.</summary>
    [Fact]
    public async Task Value_equal_by_own_Equals_is_replaced()
    {
        await using var cluster = new Cluster();
        var map = await cluster.OpenAsync<TangoSortedDictionary<int, Versioned>>();
        await map.SetAsync(1, new Versioned(7, "old"));
        await map.SetAsync(1, new Versioned(7, "new"));
        Assert.Equal("new", (await map.FirstAsync()).Value.Value.Text);
    }

    [Fact]
    public async Task Scan_result_changed_by_the_reader_leaves_the_dictionary_unchanged()
    {
        await using var cluster = new Cluster();
        var map = await cluster.OpenAsync<TangoSortedDictionary<int, List<int>>>();
        await map.SetAsync(1, [1]);
        (await map.ScanAsync(KeyRange<int>.All))[0].Value.Add(2);
        (await map.FirstAsync()).Value.Value.Add(3);
        Assert.Equal([1], (await map.TryGetAsync(1)).Value!);
    }

    [Fact]
    public async Task Tuples_are_ordered_part_by_part_with_strings_ordinal()
    {
        await using var cluster = new Cluster();
        var set = await cluster.OpenAsync<TangoSortedSet<(string, int)>>();
        foreach ((string, int) item in ((string, int)[])[("a", 2), ("ä", 0), ("B", 3), ("a", 1)])
            await set.EnsureAsync(item);
        Assert.Equal([("B", 3), ("a", 1), ("a", 2), ("ä", 0)], await set.SnapshotAsync());
        Assert.Equal([("a", 2), ("a", 1)], await set.ScanAsync(KeyRange.From(("a", 0)).Below(("b", 0)).Reversed()));
    }

    [Fact]
    public async Task Keys_without_an_order_are_refused_when_opened()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var refused = await Assert.ThrowsAsync<TangoFormatException>(
            () => runtime.OpenAsync<TangoSortedDictionary<Job, int>>("a", OpenMode.Create).AsTask());
        Assert.Equal(FormatError.NotAKey, refused.Error);
        Assert.Contains($"{typeof(Job)} has no order", refused.Message, StringComparison.Ordinal);
        refused = await Assert.ThrowsAsync<TangoFormatException>(
            () => runtime.OpenAsync<TangoSortedSet<(int, Job)>>("b", OpenMode.Create).AsTask());
        Assert.Contains($"{typeof(Job)} has no order", refused.Message, StringComparison.Ordinal);
        Assert.Empty(await runtime.Directory.ListAsync());
    }

    [Fact]
    public void Wrong_ranges_are_told()
    {
        Assert.Equal("limit", Assert.Throws<ArgumentOutOfRangeException>(() => KeyRange.From(1).Take(-1)).ParamName);
        var crossed = Assert.Throws<ArgumentException>(() => KeyRange.From("b").To("a"));
        Assert.StartsWith("The range would begin at 'b', above its end 'a'", crossed.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => KeyRange.Below(3).From(4));
        Assert.Throws<ArgumentException>(() => KeyRange.Prefix("a/").Above("b"));
        Assert.Throws<ArgumentNullException>(() => KeyRange.Prefix(null!));
        Assert.Throws<ArgumentNullException>(() => KeyRange.To<string>(null!));
    }

    [Fact]
    public void Ranges_only_narrow()
    {
        Assert.Equal("[2..5)", KeyRange.From(2).Below(5).From(1).To(5).To(9).ToString());
        Assert.Equal("(2..) reversed take 3", KeyRange.From(2).Above(2).Take(3).Take(8).Reversed().ToString());
        Assert.Equal("[a\uffff..b)", KeyRange.Prefix("a\uffff").ToString());
        Assert.Equal("[\uffff..)", KeyRange.Prefix("\uffff").ToString());
    }
}
