using Corfu.Protocol;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>A transaction is not said to have lost to a deletion that came after it.</summary>
public sealed class ResolveAfterDeletionTests
{
    private static readonly TangoOptions s_options = new() { MaxResolveAttempts = 0, NewLogMaxSpan = 1 };

    /// <summary>The directory has forgotten the deletion, and the trim that may follow has not taken the commit record
    /// yet.</summary>
    [Fact]
    public async Task A_commit_is_not_called_an_abort_because_what_it_read_was_deleted_later()
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

        await runtime.DeleteAsync("read");
        var deleted = await world.TailAsync();
        for (var i = 0; i < 2; i++)
        {
            for (var j = 0; j < 4; j++) await written.SetAsync("y", j);
            await runtime.CheckpointAsync(written);
            await runtime.CheckpointDirectoryAsync();
        }

        var released = await runtime.Directory.ReleaseAsync(deleted, default);
        Assert.Equal(deleted, released);
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await runtime.ResolveAsync(inDoubt));
    }
}
