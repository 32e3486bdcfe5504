namespace Tango.Collections.Tests.Recorded;

/// <summary>
/// The log ends with commits with and without a decision record, an abort (of a write of the key "never"), and a
/// co-hosted group.
/// </summary>
internal static class RecordedTransactions
{
    public static async Task CheckAsync(TangoRuntime runtime)
    {
        Board board = await Board.OpenAsync(runtime);
        Assert.Equal(0, await board.Pending.CountAsync());
        Assert.Equal(5, await board.Moved.ReadAsync());
        Assert.Equal(new Job(3, "user 3"), (await board.Done.TryGetAsync(3)).Value);
        var source = await runtime.OpenAsync<TangoCounter>("source");
        var target = await runtime.OpenAsync<TangoDictionary<string, long>>("target");
        Assert.Equal(100, await source.ReadAsync());
        Assert.Equal(["seen 7", "seen 8", "seen 9"], (await target.SnapshotAsync()).Keys.Order());
    }
}
