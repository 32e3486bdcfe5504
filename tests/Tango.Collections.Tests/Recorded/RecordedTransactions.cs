namespace Tango.Collections.Tests.Recorded;

/// <summary>Commits with and without a decision record, an abort, and a co-hosted group.</summary>
internal static class RecordedTransactions
{
    public static async Task WriteAsync(TangoRuntime runtime)
    {
        Board board = await Board.OpenAsync(runtime);
        for (int i = 0; i < 5; i++) await board.Pending.EnqueueAsync(new Job(i, $"user {i}"));
        await board.WorkAsync();
        var source = await runtime.OpenAsync<TangoCounter>("source");
        var target = await runtime.OpenAsync<TangoDictionary<string, long>>("target");
        await source.SetAsync(7);
        for (int i = 0; i < 3; i++)
        {
            TxResult<bool> moved = await runtime.RunTransactionAsync(async _ =>
            {
                long seen = await source.ReadAsync();
                await target.SetAsync($"seen {seen}", seen);
                await source.AddAsync(1);
                return true;
            });
            Assert.True(moved.IsCommitted);
        }
        await using var stale = runtime.BeginTx();
        await source.ReadAsync();
        await target.SetAsync("never", 0);
        await OutsideAsync(runtime);
        Assert.False((await stale.EndTxAsync()).IsCommitted);
    }

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

    private static async Task OutsideAsync(TangoRuntime runtime)
    {
        Task update;
        using (ExecutionContext.SuppressFlow())
            update = Task.Run(async () => await (await runtime.OpenAsync<TangoCounter>("source")).SetAsync(100));
        await update;
    }
}
