using Corfu;

namespace Tango.Tests;

/// <summary>
/// R10: a tail may count grants that were never written, and the next epoch grants their positions again. A snapshot
/// must not claim to include what may still appear below such a tail.
/// </summary>
public class TakenBackTailTests
{
    [Fact]
    public async Task A_conflict_below_a_tail_that_was_taken_back_is_not_missed()
    {
        await using var world = new World();
        await using var runtime = new TangoRuntime(
            world.Log, () => new GenerousCursor(world.Log.OpenCursor()), TimeProvider.System, SystemEntropy.Instance);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var (_, other) = await world.OpenAccountsAsync();
        await runtime.SyncAsync();

        var transaction = runtime.BeginTx();
        var seen = await accounts.BalanceAsync("x");
        await other.SetAsync("x", 100);
        await accounts.SetAsync("x", seen + 1);
        Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync());
        Assert.Equal(100, await other.BalanceAsync("x"));
    }

    /// <summary>Answers tails with ten positions too many, as if they were granted and their writers gone.</summary>
    private sealed class GenerousCursor(IStreamCursor inner) : CursorWrapper(inner)
    {
        public override async ValueTask<LogPosition> SyncAsync(
            ReadConsistency consistency = ReadConsistency.Linearizable,
            CancellationToken cancellationToken = default) =>
            await base.SyncAsync(consistency, cancellationToken) + 10;
    }
}
