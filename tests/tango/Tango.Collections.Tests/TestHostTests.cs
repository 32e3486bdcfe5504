using Corfu;
using Tango.Testing;

namespace Tango.Collections.Tests;

/// <summary>Promises of <see cref="TangoTestHost"/> to the tests of a user.</summary>
public sealed class TestHostTests : IAsyncDisposable
{
    private readonly TangoTestHost _host = new();

    [Fact]
    public async Task A_change_before_the_append_aborts_the_commit()
    {
        var process = _host.Start();
        TangoRegister<int> here = await OpenAsync(process);
        TangoRegister<int> there = await OpenAsync(_host.Start());
        process.Connection.BeforeNextAppend(() => there.WriteAsync(7));

        await using var tx = process.Runtime.BeginTx();
        await here.WriteAsync(await here.ReadAsync() + 1);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());

        Assert.Equal((AbortReason.Conflict, "register"), (aborted.Reason, aborted.ObjectName));
        Assert.Equal(7, await here.ReadAsync());
    }

    [Fact]
    public async Task A_transaction_that_is_run_again_sees_the_change()
    {
        var process = _host.Start();
        TangoRegister<int> here = await OpenAsync(process);
        TangoRegister<int> there = await OpenAsync(_host.Start());
        process.Connection.BeforeNextAppend(() => there.WriteAsync(7));
        var attempts = 0;

        Task run = RunAsync();
        await _host.Time.AdvanceUntilAsync(run);

        Assert.Equal(2, attempts);
        Assert.Equal(8, await there.ReadAsync());

        async Task RunAsync() => (await process.Runtime.RunTransactionAsync(async _ =>
        {
            attempts++;
            await here.WriteAsync(await here.ReadAsync() + 1);
        })).ThrowIfNotCommitted();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_transaction_in_doubt_is_resolved_later(bool isWritten)
    {
        var process = _host.Start();
        TangoRegister<int> register = await OpenAsync(process);
        process.Connection.LeaveNextInDoubt(isWritten);

        await using var tx = process.Runtime.BeginTx();
        await register.WriteAsync(1);
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await tx.EndTxAsync());

        Assert.Equal(isWritten, (await process.Runtime.ResolveAsync(inDoubt)).IsCommitted);
        Assert.Equal(isWritten ? 1 : 0, await register.ReadAsync());
        await register.WriteAsync(2);
        Assert.Equal(2, await register.ReadAsync());
    }

    [Fact]
    public async Task Process_without_a_connection_fails_and_goes_on_once_restored()
    {
        var process = _host.Start();
        TangoRegister<int> register = await OpenAsync(process);
        TangoRegister<int> there = await OpenAsync(_host.Start());
        process.Connection.Lose();

        var read = register.ReadAsync().AsTask();
        await Assert.ThrowsAsync<LogUnavailableException>(() => _host.Time.AdvanceUntilAsync(read));
        await there.WriteAsync(3);

        process.Connection.Restore();
        Assert.Equal(3, await register.ReadAsync());
    }

    [Fact]
    public async Task Process_that_starts_after_a_trim_fails_typed()
    {
        TangoRegister<int> register = await OpenAsync(_host.Start(new TangoOptions { Checkpoints = null }));
        await register.WriteAsync(1);
        await _host.TrimBelowAsync(await _host.TailAsync());

        var late = OpenAsync(_host.Start()).AsTask();
        await Assert.ThrowsAsync<TangoTrimmedException>(() => _host.Time.AdvanceUntilAsync(late));
    }

    [Fact]
    public async Task Lock_passes_on_when_the_holder_is_silent_and_time_goes_on()
    {
        var dead = _host.Start();
        TangoLock first = await dead.Runtime.OpenAsync<TangoLock>("lock", OpenMode.Create);
        TangoLock second = await _host.Start().Runtime.OpenAsync<TangoLock>("lock");
        var held = await first.AcquireAsync(TimeSpan.FromSeconds(10), "first");
        dead.Connection.Lose();

        var waiting = second.AcquireAsync(TimeSpan.FromSeconds(10), "second").AsTask();
        var began = _host.Time.GetTimestamp();
        await _host.Time.AdvanceUntilAsync(waiting);

        Assert.True(_host.Time.GetElapsedTime(began) >= TimeSpan.FromSeconds(10));
        Assert.True((await waiting).FencingToken > held.FencingToken);
        Assert.False(held.IsHeld);
    }

    [Fact]
    public void Test_time_fires_timers_when_advanced()
    {
        var time = new TestTime();
        var fired = new List<string>();
        DateTimeOffset began = time.GetUtcNow();
        ITimer often = Timer("often", 2, 3);
        ITimer once = Timer("once", 4, 0);
        Timer("never", 1, 0).Dispose();

        time.Advance(TimeSpan.FromSeconds(1));
        Assert.Empty(fired);
        time.Advance(TimeSpan.FromSeconds(7));
        Assert.Equal(["often 2", "once 4", "often 5", "often 8"], fired);
        Assert.Equal(began.AddSeconds(8), time.GetUtcNow());

        often.Dispose();
        once.Change(TimeSpan.FromSeconds(1), Timeout.InfiniteTimeSpan);
        time.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal("once 9", fired[^1]);
        Assert.Equal(5, fired.Count);

        ITimer Timer(string name, int due, int period) => time.CreateTimer(
            _ => fired.Add($"{name} {(time.GetUtcNow() - began).TotalSeconds}"), null, TimeSpan.FromSeconds(due),
            period == 0 ? Timeout.InfiniteTimeSpan : TimeSpan.FromSeconds(period));
    }

    /// <summary>Else a lease ends before its renewal, which was due, has come into the log.</summary>
    [Fact]
    public async Task Test_time_stands_still_while_work_started_by_a_timer_runs()
    {
        var time = new TestTime();
        Task<long> moved = Task.Run(async () =>
        {
            await Task.Delay(TimeSpan.FromMilliseconds(10), time);
            long began = time.GetTimestamp();
            for (int i = 0; i < 48; i++) await Task.Yield();
            return time.GetTimestamp() - began;
        });
        await time.AdvanceUntilAsync(moved);
        Assert.Equal(0, await moved);
    }

    private static ValueTask<TangoRegister<int>> OpenAsync(TestProcess process) =>
        process.Runtime.OpenAsync<TangoRegister<int>>("register", OpenMode.Create);

    public ValueTask DisposeAsync() => _host.DisposeAsync();
}
