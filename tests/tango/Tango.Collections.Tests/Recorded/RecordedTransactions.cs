namespace Tango.Collections.Tests.Recorded;

/// <summary>
/// The log ends with commits with and without a decision record, an abort (of a write of the key "never"), and a
/// co-hosted group.
/// </summary>
internal static class RecordedTransactions
{
    public static async Task CheckAsync(TangoRuntime runtime)
    {
        TangoQueue<Job>? pending = null;
        TangoDictionary<long, Job>? done = null;
        TangoCounter? moved = null;
        await runtime.OpenGroupAsync("board", group =>
        {
            pending = group.Add<TangoQueue<Job>>("pending");
            done = group.Add<TangoDictionary<long, Job>>("done");
            moved = group.Add<TangoCounter>("moved");
        });
        Assert.Equal(0, await pending!.CountAsync());
        Assert.Equal(5, await moved!.ReadAsync());
        Assert.Equal(new Job(3, "user 3"), (await done!.TryGetAsync(3)).Value);
        var source = await runtime.OpenAsync<TangoCounter>("source", OpenMode.Create);
        var target = await runtime.OpenAsync<TangoDictionary<string, long>>("target", OpenMode.Create);
        Assert.Equal(100, await source.ReadAsync());
        Assert.Equal(["seen 7", "seen 8", "seen 9"], (await target.SnapshotAsync()).Keys.Order());
    }
}
