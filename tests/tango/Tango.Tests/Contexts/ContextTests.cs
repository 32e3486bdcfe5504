using Microsoft.Extensions.Logging;
using Tango.Testing;

namespace Tango.Tests.Contexts;

/// <summary>Playback, sending and openings serve all callers, and depend on no one caller's context.</summary>
public class ContextTests
{
    // Only a caller that waits for ever meets it.
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(1);

    public enum Call
    {
        Read,
        Update,
        UpdateWithResult,
        Transaction,
        Open,
    }

    [Theory]
    [InlineData(Call.Read)]
    [InlineData(Call.Update)]
    [InlineData(Call.UpdateWithResult)]
    [InlineData(Call.Transaction)]
    [InlineData(Call.Open)]
    public async Task Message_loop_that_ends_leaves_no_other_caller_waiting(Call first)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await (await world.OpenAccountsAsync("other")).Accounts.SetAsync("x", 1);
        _ = new HeldContext().Call(() => CallAsync(first, runtime, accounts));
        foreach (var call in Enum.GetValues<Call>()) await CallAsync(call, runtime, accounts).WaitAsync(s_limit);
    }

    [Theory]
    [InlineData(Call.Read)]
    [InlineData(Call.Update)]
    [InlineData(Call.UpdateWithResult)]
    [InlineData(Call.Transaction)]
    [InlineData(Call.Open)]
    public async Task Message_loop_that_blocks_holds_up_only_the_call_made_on_the_loop(Call first)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await (await world.OpenAccountsAsync("other")).Accounts.SetAsync("x", 1);
        var loop = new HeldContext();
        var held = loop.Call(() => CallAsync(first, runtime, accounts));
        foreach (var call in Enum.GetValues<Call>()) await CallAsync(call, runtime, accounts).WaitAsync(s_limit);
        Assert.False(held.IsCompleted);
        loop.GoOn();
        await held.WaitAsync(s_limit);
    }

    [Theory]
    [InlineData(Call.Read)]
    [InlineData(Call.Update)]
    [InlineData(Call.UpdateWithResult)]
    [InlineData(Call.Transaction)]
    [InlineData(Call.Open)]
    public async Task Exclusive_scheduler_that_is_busy_holds_up_only_the_call_made_on_the_scheduler(Call first)
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await (await world.OpenAccountsAsync("other")).Accounts.SetAsync("x", 1);
        var exclusive = new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
        using var release = new ManualResetEventSlim();
        var called = new TaskCompletionSource<Task>(TaskCreationOptions.RunContinuationsAsynchronously);
        var busy = Task.Factory.StartNew(
            () =>
            {
                called.SetResult(CallAsync(first, runtime, accounts));
                release.Wait();
            },
            CancellationToken.None, TaskCreationOptions.None, exclusive);
        var held = await called.Task;
        foreach (var call in Enum.GetValues<Call>()) await CallAsync(call, runtime, accounts).WaitAsync(s_limit);
        Assert.False(held.IsCompleted);
        release.Set();
        await busy;
        await held.WaitAsync(s_limit);
    }

    /// <summary>A transaction of the first caller, for one, would live as long as callers overlap.</summary>
    [Fact]
    public async Task Ambient_values_of_a_caller_do_not_flow_into_shared_work()
    {
        var ambient = new AsyncLocal<string?>();
        var seen = new List<string?>();
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = _ => See(),
            BeforeCheck = _ => See(),
        });
        var (_, accounts) = await world.OpenAccountsAsync();
        seen.Clear();
        ambient.Value = "of the caller";
        await accounts.SetAsync("x", 1);
        await accounts.BalanceAsync("x");
        Assert.NotEmpty(seen);
        Assert.All(seen, Assert.Null);

        ValueTask See()
        {
            lock (seen) seen.Add(ambient.Value);
            return ValueTask.CompletedTask;
        }
    }

    /// <summary>The logger is the program's own.</summary>
    [Fact]
    public async Task Logger_that_throws_ends_neither_playback_nor_sending()
    {
        var fails = false;
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = _ => fails ? throw new IOException("append") : default,
            BeforeCheck = _ => fails ? throw new IOException("check") : default,
        });
        await using var runtime = new TangoRuntime(world.Log, null, new ThrowingLogger());
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        fails = true;
        await Assert.ThrowsAnyAsync<Exception>(() => accounts.BalanceAsync("x").AsTask().WaitAsync(s_limit));
        await Assert.ThrowsAnyAsync<Exception>(() => accounts.SetAsync("x", 1).AsTask().WaitAsync(s_limit));
        fails = false;
        await accounts.SetAsync("x", 2).AsTask().WaitAsync(s_limit);
        Assert.Equal(2, await accounts.BalanceAsync("x").AsTask().WaitAsync(s_limit));
    }

    private static async Task CallAsync(Call call, TangoRuntime runtime, Accounts accounts)
    {
        switch (call)
        {
            case Call.Read:
                await accounts.BalanceAsync("x");
                break;
            case Call.Update:
                await accounts.SetAsync("x", 1);
                break;
            case Call.UpdateWithResult:
                await accounts.AddAsync("x", 1);
                break;
            case Call.Transaction:
                await runtime.TransferAsync(accounts, "x", 1);
                break;
            default:
                await runtime.OpenAsync<Accounts>("other");
                break;
        }
    }

    private sealed class ThrowingLogger : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter)
        {
            if (logLevel >= LogLevel.Warning) throw new InvalidOperationException("The disk of the log files is full");
        }
    }
}
