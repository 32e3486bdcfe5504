using Tango.Testing;

namespace Tango.Tests;

/// <summary>Tests that an unknown outcome of a transaction in doubt is not guessed.</summary>
public sealed class UnresolvableTests
{
    private static readonly TangoOptions s_options = new() { MaxResolveAttempts = 0, NewLogMaxSpan = 1 };

    /// <summary>The directory has forgotten the deletion, and the trim that may follow has not taken the commit record
    /// yet.</summary>
    [Fact]
    public async Task Commit_whose_read_object_was_deleted_later_is_not_resolved_as_an_abort()
    {
        var next = AppendFault.None;
        await using var world = new World(new InMemoryLogOptions { NextAppendFault = () => next });
        var runtime = world.NewRuntime(s_options);
        var read = await runtime.OpenAsync<Accounts>("read", OpenMode.Create);
        var written = await runtime.OpenAsync<Accounts>("written", OpenMode.Create);
        var tx = runtime.BeginTx();
        await written.SetAsync("x", 1 + await read.BalanceAsync("y"));
        next = AppendFault.WrittenButUnknown;
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await tx.EndTxAsync());
        next = AppendFault.None;
        Assert.Equal(1, await written.BalanceAsync("x"));

        await runtime.Directory.DeleteAsync("read");
        var deleted = await world.TailAsync();
        for (var i = 0; i < 2; i++)
        {
            for (var j = 0; j < 4; j++) await written.SetAsync("y", j);
            await runtime.Checkpoints.WriteAsync(written);
            await runtime.Checkpoints.WriteDirectoryAsync();
        }

        var released = await runtime.Services.Handle.ReleaseAsync(deleted, default);
        Assert.Equal(deleted, released);
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await runtime.ResolveAsync(inDoubt));
    }

    /// <summary>A position means nothing in another log.</summary>
    [Fact]
    public async Task An_outcome_of_another_log_is_refused()
    {
        var next = AppendFault.None;
        await using var world = new World(new InMemoryLogOptions { NextAppendFault = () => next });
        await using var elsewhere = new World();
        var (other, _) = await elsewhere.OpenAccountsAsync();
        var runtime = world.NewRuntime(s_options);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var tx = runtime.BeginTx();
        await accounts.SetAsync("x", 1);
        next = AppendFault.WrittenButUnknown;
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await tx.EndTxAsync());
        next = AppendFault.None;
        await Assert.ThrowsAsync<ArgumentException>(async () => await other.ResolveAsync(inDoubt));
        Assert.True((await world.NewRuntime().ResolveAsync(inDoubt)).IsCommitted);
    }
}
