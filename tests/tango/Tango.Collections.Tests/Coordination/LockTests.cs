namespace Tango.Collections.Tests;

public sealed class LockTests
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromSeconds(3);

    [Fact]
    public void Lock_goes_to_waiters_in_order_of_arrival() =>
        CoordinationWorld.Run(1, async (world, _) =>
        {
            TangoLock first = await world.NewProcess().OpenAsync<TangoLock>();
            TangoLock second = await world.NewProcess().OpenAsync<TangoLock>();
            HeldLock held = await first.AcquireAsync(s_ttl, "first");
            Task<HeldLock> next = second.AcquireAsync(s_ttl, "next").AsTask();
            await second.WaitForAsync((l, t) => l.CountAsync(t), static count => count == 2);
            Task<HeldLock> last = first.AcquireAsync(s_ttl, "last").AsTask();
            await second.WaitForAsync((l, t) => l.CountAsync(t), static count => count == 3);
            Assert.Null(await second.TryAcquireAsync(s_ttl));
            Assert.Equal("first", (await second.HolderAsync()).Value.Owner);
            Assert.False(next.IsCompleted || last.IsCompleted);

            await held.DisposeAsync();
            Assert.True(held.Lost.IsCancellationRequested);
            HeldLock nextHeld = await next;
            Assert.Equal(new LockHolder(nextHeld.FencingToken, "next"), (await first.HolderAsync()).Value);
            await nextHeld.DisposeAsync();
            HeldLock lastHeld = await last;
            Assert.True(held.FencingToken < nextHeld.FencingToken && nextHeld.FencingToken < lastHeld.FencingToken);
            await lastHeld.DisposeAsync();
            Assert.False((await first.HolderAsync()).Found);
            Assert.NotNull(await second.TryAcquireAsync(s_ttl));
        });

    [Fact]
    public void A_holder_that_lives_keeps_the_lock() => CoordinationWorld.Run(2, async (world, time) =>
    {
        TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>();
        TangoLock other = await world.NewProcess().OpenAsync<TangoLock>();
        HeldLock held = await mine.AcquireAsync(s_ttl);
        Task<HeldLock> waiting = other.AcquireAsync(s_ttl).AsTask();
        await Task.Delay(20 * s_ttl, time);
        Assert.True(held.IsHeld);
        Assert.False(waiting.IsCompleted);
        await mine.RequireHeldAsync(held.FencingToken);
        await held.DisposeAsync();
        await waiting;
    });

    [Fact]
    public void Lock_of_a_dead_owner_is_free_after_the_time_to_live_and_not_before() =>
        CoordinationWorld.Run(3, async (world, time) =>
        {
            Process dying = world.NewProcess();
            TangoLock mine = await dying.OpenAsync<TangoLock>();
            TangoLock other = await world.NewProcess().OpenAsync<TangoLock>();
            HeldLock held = await mine.AcquireAsync(s_ttl);
            long sent = time.GetTimestamp();
            await dying.DieAsync();
            HeldLock next = await other.AcquireAsync(s_ttl);
            Assert.True(time.GetElapsedTime(sent) >= s_ttl, $"{time.GetElapsedTime(sent)}");
            Assert.True(time.GetElapsedTime(sent) <= 2 * s_ttl, $"{time.GetElapsedTime(sent)}");
            Assert.True(next.FencingToken > held.FencingToken);
            Assert.False(held.IsHeld);
        });

    [Fact]
    public void Waiter_that_dies_does_not_hold_up_the_line() => CoordinationWorld.Run(4, async (world, _) =>
    {
        Process dying = world.NewProcess();
        TangoLock waiter = await dying.OpenAsync<TangoLock>();
        TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>();
        HeldLock held = await mine.AcquireAsync(s_ttl);
        Task<HeldLock> waiting = waiter.AcquireAsync(s_ttl).AsTask();
        await mine.WaitForAsync((l, t) => l.CountAsync(t), static count => count == 2);
        await dying.DieAsync();
        // A process that has not yet played its own ticket cannot know what becomes of it.
        Exception told = await Assert.ThrowsAnyAsync<Exception>(() => waiting);
        Assert.True(told is ObjectDisposedException or TangoInDoubtException, told.ToString());
        await held.DisposeAsync();
        Assert.True((await mine.AcquireAsync(s_ttl)).IsHeld);
    });

    [Fact]
    public void Owner_that_was_stopped_is_refused_by_the_guarded_object() =>
        CoordinationWorld.Run(5, async (world, time) =>
        {
            Process stopped = world.NewProcess();
            TangoLock mine = await stopped.OpenAsync<TangoLock>("lock");
            var guarded = await stopped.OpenAsync<TangoRegister<string>>("guarded");
            Process lively = world.NewProcess();
            TangoLock other = await lively.OpenAsync<TangoLock>("lock");
            HeldLock held = await mine.AcquireAsync(s_ttl);
            stopped.Clock.Stop();
            HeldLock next = await other.AcquireAsync(s_ttl);
            // The owner has not run since, so that no callback has fired; IsHeld compares the clock.
            Assert.False(held.Lost.IsCancellationRequested);
            Assert.False(held.IsHeld);
            stopped.Clock.GoOn();
            Assert.True(held.Lost.IsCancellationRequested);
            await Assert.ThrowsAsync<TangoLeaseLostException>(
                () => stopped.Runtime.RunTransactionAsync(async _ =>
                {
                    await mine.RequireHeldAsync(held.FencingToken);
                    await guarded.WriteAsync("late");
                }).AsTask());
            Assert.Null(await guarded.ReadAsync());
            await held.DisposeAsync();
            await Task.Delay(5 * s_ttl, time);
            Assert.True(next.IsHeld);
        });

    /// <summary>The holder has sent its token to a process whose view is behind.</summary>
    [Fact]
    public void A_refusal_by_a_view_that_is_behind_aborts_the_transaction() =>
        CoordinationWorld.Run(10, async (world, _) =>
        {
            Process behind = world.NewProcess();
            TangoLock late = await behind.OpenAsync<TangoLock>("lock");
            var guarded = await behind.OpenAsync<TangoRegister<string>>("guarded");
            TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>("lock");
            await using HeldLock held = await mine.AcquireAsync(s_ttl);
            await using (TangoTransaction tx = behind.Runtime.BeginTx(new TransactionOptions { Explicit = true }))
            {
                await Assert.ThrowsAsync<TangoLeaseLostException>(
                    () => tx.Use(late).RequireHeldAsync(held.FencingToken).AsTask());
                await tx.Use(guarded).WriteAsync("the leader has lost its lock");
                Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
            }

            // Begun again, it sees the holder.
            TxOutcome outcome = await behind.Runtime.RunTransactionAsync(async _ =>
            {
                await late.RequireHeldAsync(held.FencingToken);
                await guarded.WriteAsync("in time");
            });
            Assert.IsType<TxOutcome.Committed>(outcome);
        });

    [Fact]
    public void A_transaction_whose_view_is_behind_is_tried_again() => CoordinationWorld.Run(11, async (world, _) =>
    {
        Process behind = world.NewProcess();
        TangoLock late = await behind.OpenAsync<TangoLock>("lock");
        var guarded = await behind.OpenAsync<TangoRegister<string>>("guarded");
        TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>("lock");
        await using HeldLock held = await mine.AcquireAsync(s_ttl);
        TxOutcome outcome = await behind.Runtime.RunTransactionAsync(async _ =>
        {
            await late.RequireHeldAsync(held.FencingToken);
            await guarded.WriteAsync("in time");
        });
        Assert.IsType<TxOutcome.Committed>(outcome);
    });

    [Fact]
    public void Guarded_transaction_aborts_when_the_lock_changes_hands_before_the_commit() =>
        CoordinationWorld.Run(6, async (world, _) =>
        {
            Process process = world.NewProcess();
            TangoLock mine = await process.OpenAsync<TangoLock>("lock");
            var guarded = await process.OpenAsync<TangoRegister<string>>("guarded");
            HeldLock held = await mine.AcquireAsync(s_ttl);
            await using TangoTransaction tx = process.Runtime.BeginTx(new TransactionOptions { Explicit = true });
            await tx.Use(mine).RequireHeldAsync(held.FencingToken);
            await tx.Use(guarded).WriteAsync("late");
            await held.DisposeAsync();
            Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
        });

    [Fact]
    public void Renewals_and_new_waiters_do_not_abort_a_guarded_transaction() =>
        CoordinationWorld.Run(7, async (world, time) =>
        {
            Process process = world.NewProcess();
            TangoLock mine = await process.OpenAsync<TangoLock>("lock");
            var guarded = await process.OpenAsync<TangoRegister<string>>("guarded");
            TangoLock other = await world.NewProcess().OpenAsync<TangoLock>("lock");
            HeldLock held = await mine.AcquireAsync(s_ttl);
            await using TangoTransaction tx = process.Runtime.BeginTx(new TransactionOptions { Explicit = true });
            await tx.Use(mine).RequireHeldAsync(held.FencingToken);
            await tx.Use(guarded).WriteAsync("in time");
            Task<HeldLock> waiting = other.AcquireAsync(s_ttl).AsTask();
            await Task.Delay(10 * s_ttl, time);
            Assert.IsType<TxOutcome.Committed>(await tx.EndTxAsync());
            Assert.Equal("in time", await guarded.ReadAsync());
            Assert.False(waiting.IsCompleted);
        });

    [Fact]
    public void One_that_stops_waiting_leaves_the_line() => CoordinationWorld.Run(8, async (world, time) =>
    {
        TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>();
        HeldLock held = await mine.AcquireAsync(s_ttl);
        using var stop = new CancellationTokenSource(TimeSpan.FromSeconds(1), time);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => mine.AcquireAsync(s_ttl, cancellationToken: stop.Token).AsTask());
        Assert.Equal(1, await mine.CountAsync());
        Assert.True(held.IsHeld);
    });

    [Fact]
    public void A_lock_is_not_taken_within_a_transaction() => CoordinationWorld.Run(9, async (world, _) =>
    {
        Process process = world.NewProcess();
        TangoLock mine = await process.OpenAsync<TangoLock>();
        await using TangoTransaction tx = process.Runtime.BeginTx();
        await Assert.ThrowsAsync<TangoTransactionException>(() => mine.AcquireAsync(s_ttl).AsTask());
        await Assert.ThrowsAsync<TangoTransactionException>(
            () => mine.WaitForAsync((l, t) => l.CountAsync(t), static _ => true).AsTask());
    });

    [Fact]
    public void An_expiry_of_an_older_version_has_no_effect()
    {
        var view = new View<TangoLock>();
        byte[] taking = Bytes.Arguments("owner", 1000L, false);
        long first = view.Apply<long>(1, Bytes.Key("line"), taking);
        long second = view.Apply<long>(1, Bytes.Key("line"), taking);
        Assert.True(view.Apply<bool>(2, Bytes.Key(new LeaseRenewal(first)), Bytes.NoArguments));
        view.Reload();
        view.Apply(4, Bytes.Key(first), Bytes.Arguments(first));
        Assert.True(view.Read<bool>("ReadIsHolder", first));
        // The version that the renewal gave it: numbers are given once, to leases and versions alike.
        view.Apply(4, Bytes.Key(first), Bytes.Arguments(second + 1));
        Assert.True(view.Read<bool>("ReadIsHolder", second));
        Assert.False(view.Apply<bool>(2, Bytes.Key(new LeaseRenewal(first)), Bytes.NoArguments));
        view.Reload();
        Assert.True(view.Apply<long>(1, Bytes.Key("line"), taking) > second + 1);
    }

    [Fact]
    public void Renewal_lets_no_waiter_read_the_log() => CoordinationWorld.Run(12, async (world, time) =>
    {
        const int count = 10;
        TimeSpan hour = TimeSpan.FromHours(1);
        TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>();
        HeldLock held = await mine.AcquireAsync(hour);
        // Waits do not ask for changes by themselves: what the process plays is what the test lets it play.
        var checks = 0;
        Process waiting = world.NewProcess(
            cursor: inner => new CountingCursor(inner, () => checks++),
            options: new TangoOptions { WaitInterval = hour });
        TangoLock other = await waiting.OpenAsync<TangoLock>();
        Task<HeldLock>[] waiters = [.. Enumerable.Range(0, count).Select(_ => other.AcquireAsync(hour).AsTask())];
        await mine.WaitForAsync((l, t) => l.CountAsync(t), static all => all == count + 1);
        await PlayAsync();
        checks = 0;
        for (var i = 0; i < 5; i++)
        {
            Assert.True(await mine.RenewAsync(held.FencingToken));
            await PlayAsync();
        }

        Assert.Equal(5, checks);
        Assert.DoesNotContain(waiters, static waiter => waiter.IsCompleted);
        await held.DisposeAsync();
        await PlayAsync();
        HeldLock next = await await Task.WhenAny(waiters);
        Assert.True(next.IsHeld);
        _ = Assert.Single(waiters, static waiter => waiter.IsCompleted);

        async Task PlayAsync()
        {
            await waiting.Runtime.SyncAsync();
            await time.Delay(1);
        }
    });

    [Fact]
    public void Waiter_of_a_lock_that_is_deleted_is_told() => CoordinationWorld.Run(13, async (world, _) =>
    {
        Process process = world.NewProcess();
        TangoLock mine = await process.OpenAsync<TangoLock>();
        HeldLock held = await mine.AcquireAsync(s_ttl);
        TangoLock other = await world.NewProcess().OpenAsync<TangoLock>();
        Task<HeldLock> waiting = other.AcquireAsync(s_ttl).AsTask();
        await mine.WaitForAsync((l, t) => l.CountAsync(t), static count => count == 2);
        await process.Runtime.Directory.DeleteAsync("object");
        await Assert.ThrowsAsync<TangoObjectDeletedException>(() => waiting);
        await held.DisposeAsync();
    });

    /// <summary>Processes that die and stop at random: each guarded write is one of the lock's holder, and tokens grow
    /// in the order of the log.</summary>
    [Fact]
    public void Guarded_writes_of_two_holders_never_interleave()
    {
        for (var seed = 0; seed < 4; seed++)
        {
            CoordinationWorld.Run(seed, async (world, time) =>
            {
                var random = new Random(seed);
                await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => UseAsync(world, time, random)));
                var written = await world.NewProcess().OpenAsync<TangoList<long>>("written");
                var tokens = await written.SnapshotAsync();
                Assert.NotEmpty(tokens);
                Assert.Equal(tokens.Order(), tokens);
            });
        }
    }

    private static async Task UseAsync(CoordinationWorld world, TimeProvider time, Random random)
    {
        Process process = world.NewProcess();
        TangoLock mine = await process.OpenAsync<TangoLock>("lock");
        var written = await process.OpenAsync<TangoList<long>>("written");
        for (var i = 0; i < 3; i++)
        {
            HeldLock held = await mine.AcquireAsync(s_ttl);
            if (random.Next(3) == 0) process.Clock.Stop();
            for (var write = 0; write < 2; write++)
            {
                try
                {
                    await time.Delay(random.Next(3000));
                    TxOutcome outcome = await process.Runtime.RunTransactionAsync(async _ =>
                    {
                        await mine.RequireHeldAsync(held.FencingToken);
                        await time.Delay(random.Next(2000));
                        await written.AddAsync(held.FencingToken);
                    });
                    outcome.ThrowIfNotCommitted();
                }
                catch (TangoLeaseLostException)
                {
                    break;
                }
            }

            process.Clock.GoOn();
            if (random.Next(4) == 0)
            {
                await process.DieAsync();
                return;
            }

            await held.DisposeAsync();
        }
    }
}

file static class Delays
{
    public static Task Delay(this TimeProvider time, int milliseconds) =>
        Task.Delay(TimeSpan.FromMilliseconds(milliseconds), time);
}
