using Tango.Testing;

namespace Tango.Tests;

/// <summary>Resolution of transactions that ended in doubt.</summary>
public sealed class ResolveTests
{
    private static readonly TangoOptions s_noResolving = new() { MaxResolveAttempts = 0 };

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown, true, false)]
    [InlineData(AppendFault.WrittenButUnknown, false, false)]
    [InlineData(AppendFault.WrittenButUnknown, true, true)]
    [InlineData(AppendFault.LostAndUnknown, true, false)]
    [InlineData(AppendFault.LostAndUnknown, false, false)]
    public async Task An_unknown_append_is_found_or_will_never_be(AppendFault fault, bool reads, bool twoObjects)
    {
        var next = AppendFault.None;
        await using var world = new World(new InMemoryLogOptions { NextAppendFault = () => next });
        var runtime = world.NewRuntime(s_noResolving);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);

        next = fault;
        var tx = runtime.BeginTx();
        if (reads) await (twoObjects ? other : accounts).BalanceAsync("y");
        await accounts.SetAsync("x", 1);
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await tx.EndTxAsync());
        next = AppendFault.None;

        var outcome = await runtime.ResolveAsync(inDoubt);
        if (fault == AppendFault.WrittenButUnknown)
            Assert.Equal(inDoubt.Position, Assert.IsType<TxOutcome.Committed>(outcome).Version.Position);
        else
        {
            Assert.Equal(AbortReason.NotWritten, Assert.IsType<TxOutcome.Aborted>(outcome).Reason);
            Assert.Equal(
                "The transaction aborted: its commit record did not come into the log",
                Assert.Throws<TangoAbortedException>(outcome.ThrowIfNotCommitted).Message);
        }

        Assert.Equal(outcome.IsCommitted ? 1 : 0, await accounts.BalanceAsync("x"));
        Assert.Equal(outcome, await runtime.ResolveAsync(inDoubt));
    }

    [Fact]
    public async Task A_conflict_that_came_first_is_told()
    {
        var next = AppendFault.None;
        Func<ValueTask>? between = null;
        await using var world = new World(new InMemoryLogOptions
        {
            NextAppendFault = () => next,
            AroundAppend = async _ =>
            {
                if (Interlocked.Exchange(ref between, null) is { } act) await act();
            },
        });
        var runtime = world.NewRuntime(s_noResolving);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var others = await world.NewRuntime().OpenAsync<Accounts>("accounts");

        var tx = runtime.BeginTx();
        await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1);
        between = async () =>
        {
            await others.SetAsync("x", 5);
            next = AppendFault.WrittenButUnknown;
        };
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await tx.EndTxAsync());
        next = AppendFault.None;

        var aborted = Assert.IsType<TxOutcome.Aborted>(await runtime.ResolveAsync(inDoubt));
        Assert.Equal((AbortReason.Conflict, "accounts"), (aborted.Reason, aborted.ObjectName));
        Assert.Equal(5, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task A_caller_that_did_not_wait_hears_later()
    {
        var held = new TaskCompletionSource();
        var holds = false;
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = async _ =>
            {
                if (holds) await held.Task;
            },
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        holds = true;
        using var stop = new CancellationTokenSource();
        var tx = runtime.BeginTx();
        await accounts.SetAsync("x", await accounts.BalanceAsync("x") + 1);
        var ending = tx.EndTxAsync(stop.Token).AsTask();
        await stop.CancelAsync();
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await ending);
        Assert.Null(inDoubt.Position);

        var resolving = runtime.ResolveAsync(inDoubt);
        Assert.False(resolving.IsCompleted);
        holds = false;
        held.SetResult();
        Assert.IsType<TxOutcome.Committed>(await resolving);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task An_outcome_that_was_made_by_hand_cannot_be_resolved()
    {
        await using var world = new World();
        await Assert.ThrowsAsync<ArgumentException>(
            async () => await world.NewRuntime().ResolveAsync(new TxOutcome.InDoubt(null, "by hand")));
    }
}
