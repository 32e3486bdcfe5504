using Corfu;

namespace Tango.Tests;

/// <summary>Waits for what a runtime has played, which read no log.</summary>
public class WaitTests
{
    [Fact]
    public void Wait_goes_on_when_the_object_is_loaded_anew() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (writer, accounts) = await world.OpenAccountsAsync("accounts");
        var (_, behind) = await world.OpenAccountsAsync("accounts");
        await accounts.SetAsync("x", 1);
        Assert.Equal(1, await behind.BalanceAsync("x"));
        var waiting = behind.SeeBalanceAsync("x", static balance => balance > 1).AsTask();
        // The waiting runtime plays none of it before it is trimmed: no time passes.
        await accounts.SetAsync("x", 2);
        var end = await writer.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(LogPosition.Min(end, await writer.Checkpoints.WriteAsync(accounts)));
        Assert.Equal(2, await waiting);
    });

    [Fact]
    public void Wait_whose_condition_fails_tells_one_caller() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var (_, accounts) = await world.OpenAccountsAsync("accounts");
        var failing = accounts.SeeBalanceAsync(
            "x", static balance => balance == 0 ? false : throw new InvalidOperationException("mine")).AsTask();
        var waiting = accounts.SeeBalanceAsync("x", static balance => balance > 1).AsTask();
        await accounts.SetAsync("x", 1);
        await Assert.ThrowsAsync<InvalidOperationException>(() => failing);
        await accounts.SetAsync("x", 2);
        Assert.Equal(2, await waiting);
    });

    [Fact]
    public void Wait_ends_with_the_runtime_and_with_the_object() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var (writer, accounts) = await world.OpenAccountsAsync("accounts");
        var (ended, other) = await world.OpenAccountsAsync("accounts");
        var dying = other.SeeBalanceAsync("x", static _ => false).AsTask();
        await ended.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => dying);
        var deleted = accounts.SeeBalanceAsync("x", static _ => false).AsTask();
        await writer.Directory.DeleteAsync("accounts");
        await Assert.ThrowsAsync<TangoObjectDeletedException>(() => deleted);
    });
}
