using System.Collections.Immutable;

namespace Tango.Collections.Tests;

/// <summary>Values whose own Equals compares references are compared by their contents.</summary>
public sealed class ContentEqualityTests
{
    [Fact]
    public async Task Array_is_replaced_if_the_contents_are_as_expected()
    {
        await using var cluster = new Cluster();
        var map = await cluster.OpenAsync<TangoDictionary<string, byte[]>>();
        await map.SetAsync("x", [1, 2]);
        Assert.False(await map.TryUpdateAsync("x", [3], [1]));
        Assert.False(await map.TryUpdateAsync("y", [3], [1, 2]));
        Assert.True(await map.TryUpdateAsync("x", [3], [1, 2]));
        Assert.Equal([3], (await map.TryGetAsync("x")).Value!);
    }

    [Fact]
    public async Task Immutable_collections_and_tuples_are_compared_by_contents()
    {
        await using var cluster = new Cluster();
        var array = await cluster.OpenAsync<TangoRegister<ImmutableArray<int>>>("array");
        Assert.True(await array.CompareAndSetAsync([1, 2], default));
        Assert.False(await array.CompareAndSetAsync([3], [2, 1]));
        Assert.True(await array.CompareAndSetAsync([3], [1, 2]));
        Assert.Equal([3], await array.ReadAsync());

        var pair = await cluster.OpenAsync<TangoRegister<(string, ImmutableHashSet<int>)>>("pair");
        await pair.WriteAsync(("a", [1, 2]));
        Assert.False(await pair.CompareAndSetAsync(("b", []), ("b", [1, 2])));
        Assert.True(await pair.CompareAndSetAsync(("b", []), ("a", [2, 1])));

        var bytes = await cluster.OpenAsync<TangoRegister<byte[]>>("bytes");
        Assert.False(await bytes.CompareAndSetAsync([1], []));
        Assert.True(await bytes.CompareAndSetAsync([1], null));
        Assert.True(await bytes.CompareAndSetAsync([2], [1]));
    }

    [Fact]
    public async Task Type_with_own_Equals_is_compared_by_that_Equals()
    {
        await using var cluster = new Cluster();
        var register = await cluster.OpenAsync<TangoRegister<Versioned>>();
        await register.WriteAsync(new Versioned(1, "a"));
        Assert.True(await register.CompareAndSetAsync(new Versioned(1, "b"), new Versioned(1, "other text")));
    }

    /// <summary>A log written before contents were compared plays to the state that it had then.</summary>
    [Fact]
    public void Old_mutators_compare_by_own_Equals_as_before()
    {
        var map = new View<TangoDictionary<string, byte[]>>();
        map.Apply(1, Bytes.Key("x"), Bytes.Arguments(new byte[] { 1 }));
        Assert.False(map.Apply<bool>(3, Bytes.Key("x"), Bytes.Arguments(new byte[] { 2 }, new byte[] { 1 })));
        Assert.True(map.Apply<bool>(8, Bytes.Key("x"), Bytes.Arguments(new byte[] { 2 }, new byte[] { 1 })));

        var register = new View<TangoRegister<ImmutableArray<int>>>();
        ImmutableArray<int> one = [1];
        register.Apply(1, Bytes.NoKey, Bytes.Arguments(one));
        Assert.False(register.Apply<bool>(3, Bytes.NoKey, Bytes.Arguments(one, one)));
        Assert.True(register.Apply<bool>(4, Bytes.NoKey, Bytes.Arguments(one, one)));
    }

    [Fact]
    public async Task Snapshot_finds_contained_values_by_contents()
    {
        await using var cluster = new Cluster();
        var texts = await cluster.OpenAsync<TangoDictionary<string, string>>("texts");
        await texts.SetAsync("x", "a");
        ImmutableDictionary<string, string> snapshot = await texts.SnapshotAsync();
        Assert.True(snapshot.ContainsValue("a"));
        Assert.False(snapshot.ContainsValue("b"));
        bool isThere = snapshot.Contains(KeyValuePair.Create("x", "a"));
        Assert.True(isThere);
        Assert.Equal(snapshot, snapshot.SetItem("x", "a"));

        var arrays = await cluster.OpenAsync<TangoDictionary<string, ImmutableArray<int>>>("arrays");
        await arrays.SetAsync("x", [1]);
        Assert.True((await arrays.SnapshotAsync()).ContainsValue([1]));
        // Mutable values are copied for the reader, and the copy compares as the original does.
        var bytes = await cluster.OpenAsync<TangoDictionary<string, byte[]>>("bytes");
        await bytes.SetAsync("x", [1]);
        ImmutableDictionary<string, byte[]> copy = await bytes.SnapshotAsync();
        Assert.True(copy.ContainsValue([1]));
        Assert.False(copy.ContainsValue([2]));
        // The view's own comparer is not the snapshot's: an update that Equals calls equal is kept.
        var versioned = await cluster.OpenAsync<TangoDictionary<string, Versioned>>("versioned");
        await versioned.SetAsync("x", new Versioned(1, "old"));
        Assert.True((await versioned.SnapshotAsync()).ContainsValue(new Versioned(1, "any")));
        await versioned.SetAsync("x", new Versioned(1, "new"));
        Assert.Equal("new", (await versioned.SnapshotAsync())["x"].Text);
    }
}
