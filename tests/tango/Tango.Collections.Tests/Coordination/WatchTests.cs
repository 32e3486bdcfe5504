using Corfu;

namespace Tango.Collections.Tests;

/// <summary>Feeds of some keys of an object.</summary>
public sealed partial class WatchTests
{
    private static readonly FeedOptions s_prompt = new() { PollInterval = TimeSpan.FromMilliseconds(1) };

    [Fact]
    public async Task Feed_of_a_prefix_has_matching_keys_and_keyless_changes()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await runtime.OpenAsync<TangoSortedDictionary<string, int>>("map", OpenMode.Create);
        // Written with one byte of length, with two, and with three.
        var longKey = "jobs/" + new string('x', 300);
        foreach (var key in new[] { "jobs/1", "job", "nodes/1", longKey, "jobs/" + new string('y', 40) })
            await map.SetAsync(key, key.Length);
        await map.ClearAsync();
        await map.SetAsync("jobs/2", 2);

        var changes = await TakeAsync<TangoSortedDictionary<string, int>>(
            runtime, "map", 5, s_prompt with { Keys = ChangeKeys.Prefix("jobs/") });
        Assert.Equal(
            [6, 305, 45, null, 6], changes.Select(change => Length(change)));
        Assert.Equal("Clear", changes[3].Mutator!.Name);

        static int? Length(TangoChange<TangoSortedDictionary<string, int>> change) =>
            change.Key.IsEmpty ? null : change.ReadKey<string>().Length;
    }

    [Fact]
    public async Task A_feed_of_keys_tells_these_keys()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var set = await runtime.OpenAsync<TangoSet<(int, string)>>("set", OpenMode.Create);
        for (var i = 0; i < 9; i++) await set.AddAsync((i % 3, $"{i}"));
        var changes = await TakeAsync<TangoSet<(int, string)>>(
            runtime, "set", 2, s_prompt with { Keys = ChangeKeys.Of((1, "4"), (2, "8"), (1, "8")) });
        Assert.Equal([(1, "4"), (2, "8")], changes.Select(change => change.ReadKey<(int, string)>()));
    }

    [Fact]
    public async Task The_place_moves_on_while_only_other_keys_change()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await runtime.OpenAsync<TangoDictionary<string, int>>("map", OpenMode.Create);
        for (var i = 0; i < 60; i++) await map.SetAsync("other", i);
        await map.SetAsync("mine", 1);
        FeedOptions options = s_prompt with { Keys = ChangeKeys.Of("mine"), ProgressEvery = 20 };
        var changes = await TakeAsync<TangoDictionary<string, int>>(runtime, "map", 3, options);
        Assert.All(changes, change => Assert.Equal(TangoChangeKind.Progress, change.Kind));
        Assert.Equal(changes.OrderBy(change => change.Place), changes);
        // Resumed at any of them, the change of the key is told.
        foreach (var change in changes)
        {
            await foreach (var next in runtime.History.ChangesAsync<TangoDictionary<string, int>>(
                "map", change.Place, options, TestContext.Current.CancellationToken))
            {
                if (next.Kind == TangoChangeKind.Progress) continue;
                Assert.Equal("mine", next.ReadKey<string>());
                break;
            }
        }
    }

    [Fact]
    public async Task A_feed_of_a_prefix_passes_keys_of_other_types()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await runtime.OpenAsync<TangoDictionary<int, int>>("map", OpenMode.Create);
        await map.SetAsync(1, 1);
        await map.ClearAsync();
        var change = Assert.Single(await TakeAsync<TangoDictionary<int, int>>(
            runtime, "map", 1, s_prompt with { Keys = ChangeKeys.Prefix("") }));
        Assert.Equal("Clear", change.Mutator!.Name);
    }

    [Fact]
    public async Task A_feed_of_a_prefix_of_a_leased_dictionary_passes_grants_and_renewals()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var map = await runtime.OpenAsync<TangoLeasedDictionary<string, int>>("map", OpenMode.Create);
        await map.SetAsync("jobs", 0, TimeSpan.FromHours(1));
        await using (TangoLease lease = await map.GrantAsync(TimeSpan.FromHours(1)))
        {
            Assert.True(await map.RenewAsync(lease.Id));
            await map.SetAsync("grants/1", 1, lease);
        }

        var changes = await TakeAsync<TangoLeasedDictionary<string, int>>(
            runtime, "map", 2, s_prompt with { Keys = ChangeKeys.Prefix("g") });
        Assert.Equal(["SetOfLease", "End"], changes.Select(change => change.Mutator!.Name));
    }

    [Fact]
    public async Task A_feed_of_keys_of_several_parts_tells_these_keys()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        var grid = await runtime.OpenAsync<Grid>("grid", OpenMode.Create);
        for (var row = 0; row < 3; row++)
        {
            for (var column = 0; column < 3; column++) await grid.SetAsync(row, $"{column}", row);
        }

        var changes = await TakeAsync<Grid>(runtime, "grid", 2, s_prompt with
        {
            Keys = ChangeKeys.Of(ObjectKey.Of(1, "2"), ObjectKey.Of(2, "0")),
        });
        Assert.Equal(
            [(1, "2"), (2, "0")], changes.Select(change => (change.ReadKey<int>(), change.ReadKey<string>(1))));

        await using TangoTransaction tx = runtime.BeginTx();
        var before = new RecordVersion(changes[0].Place.Position, 0);
        Assert.True(await tx.IsUnchangedAsync(grid, ObjectKey.Of(1, "2"), before));
        Assert.False(await tx.IsUnchangedAsync(grid, ObjectKey.Of(2, "0"), before));
    }

    private static async Task<List<TangoChange<T>>> TakeAsync<T>(
        TangoRuntime runtime, string name, int count, FeedOptions options)
        where T : TangoObject, ITangoObject<T>
    {
        var changes = new List<TangoChange<T>>();
        await foreach (var change in runtime.History.ChangesAsync<T>(
            name, LogPosition.Zero, options, TestContext.Current.CancellationToken))
        {
            changes.Add(change);
            if (changes.Count == count) break;
        }

        return changes;
    }

    [TangoObject("test-grid")]
    internal sealed partial class Grid : TangoObject
    {
        private int _last;

        [Mutator(1)]
        public partial ValueTask SetAsync([VersionKey] int row, [VersionKey] string column, int value);

        private void ApplySet(int row, string column, int value) => _last = value;
    }
}
