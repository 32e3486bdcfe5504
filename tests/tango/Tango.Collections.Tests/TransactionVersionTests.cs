using Corfu;
using Tango.Testing;

namespace Tango.Collections.Tests;

/// <summary>Comparing a key with a version that an earlier reader was told.</summary>
public sealed class TransactionVersionTests
{
    private static ValueTask<TangoDictionary<string, int>> OpenAsync(TangoRuntime runtime) =>
        runtime.OpenAsync<TangoDictionary<string, int>>("accounts", OpenMode.Create);

    [Fact]
    public async Task Key_is_unchanged_until_written()
    {
        var log = new InMemoryCorfuLog();
        await using var runtime = new TangoRuntime(log);
        await using var another = new TangoRuntime(log);
        var accounts = await OpenAsync(runtime);
        var other = await OpenAsync(another);
        await accounts.SetAsync("x", 1);
        var seen = new RecordVersion(new LogPosition((await log.CheckAsync([])).Tail.Offset - 1), int.MaxValue);
        Assert.True(await IsUnchangedAsync("x"));
        await other.SetAsync("y", 1);
        Assert.True(await IsUnchangedAsync("x"));
        // Alike is written too.
        await other.SetAsync("x", 1);
        Assert.False(await IsUnchangedAsync("x"));

        async Task<bool> IsUnchangedAsync(string key)
        {
            await using var tx = runtime.BeginTx(new TransactionOptions { StartFresh = true });
            var answer = await tx.IsUnchangedAsync(accounts, key, seen);
            (await tx.EndTxAsync()).ThrowIfNotCommitted();
            return answer;
        }
    }

    [Fact]
    public async Task Commit_is_the_newest_write_of_the_written_keys()
    {
        var log = new InMemoryCorfuLog();
        await using var runtime = new TangoRuntime(log);
        var accounts = await OpenAsync(runtime);
        var outcome = await runtime.RunTransactionAsync(async _ => await accounts.SetAsync("x", 1));
        var version = Assert.IsType<TxOutcome.Committed>(outcome).Version;
        await using var tx = runtime.BeginTx(new TransactionOptions { StartFresh = true });
        Assert.True(await tx.IsUnchangedAsync(accounts, "x", version));
        Assert.False(await tx.IsUnchangedAsync(accounts, "x", version with { Index = version.Index - 1 }));
        Assert.False(await tx.IsUnchangedAsync(accounts, "x", new RecordVersion(LogPosition.Zero, 0)));
    }

    [Fact]
    public async Task The_transaction_aborts_if_the_answer_does_not_stay_true()
    {
        var log = new InMemoryCorfuLog();
        await using var runtime = new TangoRuntime(log);
        await using var another = new TangoRuntime(log);
        var accounts = await OpenAsync(runtime);
        var other = await OpenAsync(another);
        await accounts.SetAsync("x", 1);
        var seen = new RecordVersion(new LogPosition((await log.CheckAsync([])).Tail.Offset - 1), int.MaxValue);
        await using var tx = runtime.BeginTx(new TransactionOptions { StartFresh = true });
        Assert.True(await tx.IsUnchangedAsync(accounts, "x", seen));
        await accounts.SetAsync("z", 1);
        await other.SetAsync("x", 2);
        Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
    }

    [Fact]
    public async Task A_key_that_is_not_there_has_the_versions_of_the_whole_object()
    {
        var log = new InMemoryCorfuLog();
        await using var runtime = new TangoRuntime(log);
        var accounts = await OpenAsync(runtime);
        var seen = new RecordVersion(new LogPosition((await log.CheckAsync([])).Tail.Offset - 1), int.MaxValue);
        await using var tx = runtime.BeginTx(new TransactionOptions { StartFresh = true });
        Assert.True(await tx.IsUnchangedAsync(accounts, "never", seen));
    }
}
