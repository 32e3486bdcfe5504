namespace Tango.Ledgers.Tests.Docs;

/// <summary>The code of docs/ledgers.md.</summary>
internal static class Documented
{
    public static async Task<LedgerId> BeginAsync(ICorfuLog log, TangoRuntime runtime)
    {
        await using var store = await LedgerStore.OpenAsync(log, runtime);
        await using var writer = await store.CreateAsync(
            new LedgerSpec { Metadata = new Dictionary<string, string> { ["topic"] = "orders" } });
        await writer.AppendAsync("first"u8.ToArray());
        long last = await writer.AppendAsync("second"u8.ToArray());
        Assert.Equal(1, last);
        return writer.Id;
    }

    public static async Task TakeOverAsync(
        LedgerStore store, LedgerId id, Action<LedgerEntry> apply, Func<long> lastApplied, CancellationToken elected)
    {
        try
        {
            await FollowAsync(store, id, apply, elected);
        }
        catch (OperationCanceledException) when (elected.IsCancellationRequested)
        {
            await EndAsync(store, id, apply, lastApplied());
        }
    }

    private static async Task FollowAsync(
        LedgerStore store, LedgerId id, Action<LedgerEntry> apply, CancellationToken elected)
    {
        var reader = await store.OpenAsync(id);
        await foreach (var entry in reader.FollowAsync(from: 0, elected)) apply(entry);
    }

    private static async Task EndAsync(LedgerStore store, LedgerId id, Action<LedgerEntry> apply, long applied)
    {
        var reader = await store.RecoverAsync(id);
        if (applied < reader.LastConfirmed)
        {
            await foreach (var entry in reader.ReadAsync(applied + 1, reader.LastConfirmed)) apply(entry);
        }

        await using var writer = await store.CreateAsync();
    }
}
