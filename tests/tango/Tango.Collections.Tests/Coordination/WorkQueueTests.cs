using Queue = Tango.Collections.TangoWorkQueue<string>;

namespace Tango.Collections.Tests;

public sealed class WorkQueueTests
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromSeconds(3);

    [Fact]
    public void Items_are_received_in_order_and_completed_once() =>
        CoordinationWorld.Run(1, async (world, _) =>
        {
            Queue queue = await world.NewProcess().OpenAsync<Queue>();
            Queue other = await world.NewProcess().OpenAsync<Queue>();
            Task<Delivery<string>> waiting = other.ReceiveAsync(s_ttl).AsTask();
            await queue.EnqueueAsync("a");
            await queue.EnqueueAsync("b");
            await using Delivery<string> a = await waiting;
            await using Delivery<string> b = await queue.ReceiveAsync(s_ttl);
            Assert.Equal(("a", 1, "b", 1), (a.Value, a.Attempt, b.Value, b.Attempt));
            Assert.True(a.Token < b.Token);
            Assert.Null(await queue.TryReceiveAsync(s_ttl));
            await other.CompleteAsync(a);
            await queue.CompleteAsync(b);
            await Assert.ThrowsAsync<TangoRejectedException>(() => other.CompleteAsync(a).AsTask());
            Assert.Equal((0, 0), (await queue.CountAsync(), await queue.DeliveredAsync()));
        });

    [Fact]
    public void Item_belongs_to_a_consumer_that_lives() => CoordinationWorld.Run(2, async (world, time) =>
    {
        Queue queue = await world.NewProcess().OpenAsync<Queue>();
        Queue other = await world.NewProcess().OpenAsync<Queue>();
        await queue.EnqueueAsync("long");
        await using Delivery<string> delivery = await queue.ReceiveAsync(s_ttl);
        await Task.Delay(20 * s_ttl, time);
        Assert.True(delivery.IsHeld);
        Assert.Null(await other.TryReceiveAsync(s_ttl));
        await queue.CompleteAsync(delivery);
    });

    [Fact]
    public void The_item_of_a_consumer_that_dies_is_delivered_again() => CoordinationWorld.Run(3, async (world, time) =>
    {
        Process dying = world.NewProcess();
        Queue queue = await dying.OpenAsync<Queue>();
        Queue other = await world.NewProcess().OpenAsync<Queue>();
        await queue.EnqueueAsync("first");
        await queue.EnqueueAsync("second");
        Delivery<string> lost = await queue.ReceiveAsync(s_ttl);
        long sent = time.GetTimestamp();
        await dying.DieAsync();
        Delivery<string> second = await other.ReceiveAsync(s_ttl);
        Assert.Equal("second", second.Value);
        Delivery<string> again = await other.ReceiveAsync(s_ttl);
        Assert.Equal(("first", 2), (again.Value, again.Attempt));
        Assert.True(time.GetElapsedTime(sent) >= s_ttl, $"{time.GetElapsedTime(sent)}");
        Assert.True(again.Token > lost.Token);
        await Assert.ThrowsAsync<TangoRejectedException>(() => other.CompleteAsync(lost).AsTask());
        await other.CompleteAsync(again);
    });

    [Fact]
    public void Transaction_of_a_consumer_that_was_stopped_completes_no_item() =>
        CoordinationWorld.Run(4, async (world, _) =>
        {
            Process stopped = world.NewProcess();
            Queue queue = await stopped.OpenAsync<Queue>("queue");
            var done = await stopped.OpenAsync<TangoList<string>>("done");
            Process lively = world.NewProcess();
            Queue other = await lively.OpenAsync<Queue>("queue");
            var otherDone = await lively.OpenAsync<TangoList<string>>("done");
            await queue.EnqueueAsync("work");
            Delivery<string> late = await queue.ReceiveAsync(s_ttl);
            await using TangoTransaction tx = stopped.Runtime.BeginTx(new TransactionOptions { Explicit = true });
            await tx.Use(queue).CompleteAsync(late);
            await tx.Use(done).AddAsync("by the stopped one");
            stopped.Clock.Stop();
            Delivery<string> again = await other.ReceiveAsync(s_ttl);
            Assert.Equal("work", again.Value);
            stopped.Clock.GoOn();
            Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
            TxOutcome outcome = await lively.Runtime.RunTransactionAsync(async _ =>
            {
                await other.CompleteAsync(again);
                await otherDone.AddAsync("by the lively one");
            });
            outcome.ThrowIfNotCommitted();
            Assert.Equal(["by the lively one"], await done.SnapshotAsync());
            await late.DisposeAsync();
            await again.DisposeAsync();
            Assert.Equal((0, 0), (await queue.CountAsync(), await queue.DeliveredAsync()));
        });

    [Fact]
    public void Renewals_and_new_items_do_not_abort_the_transaction_that_completes() =>
        CoordinationWorld.Run(5, async (world, time) =>
        {
            Process process = world.NewProcess();
            Queue queue = await process.OpenAsync<Queue>();
            await queue.EnqueueAsync("a");
            await queue.EnqueueAsync("b");
            await using Delivery<string> delivery = await queue.ReceiveAsync(s_ttl);
            await using TangoTransaction tx = process.Runtime.BeginTx(new TransactionOptions { Explicit = true });
            await tx.Use(queue).CompleteAsync(delivery);
            await queue.EnqueueAsync("c");
            await using Delivery<string> other = await queue.ReceiveAsync(s_ttl);
            await queue.CompleteAsync(other);
            await Task.Delay(10 * s_ttl, time);
            Assert.IsType<TxOutcome.Committed>(await tx.EndTxAsync());
            Assert.Equal((1, 0), (await queue.CountAsync(), await queue.DeliveredAsync()));
        });

    [Fact]
    public void Item_delivered_in_vain_too_often_is_a_dead_letter_until_revived() =>
        CoordinationWorld.Run(6, async (world, _) =>
        {
            Queue queue = await world.NewProcess().OpenAsync<Queue>();
            await Assert.ThrowsAsync<TangoRejectedException>(() => queue.SetMaxAttemptsAsync(0).AsTask());
            await queue.SetMaxAttemptsAsync(2);
            Assert.Equal(2, await queue.MaxAttemptsAsync());
            await queue.EnqueueAsync("poison");
            await queue.EnqueueAsync("good");
            long item = 0;
            for (var attempt = 1; attempt <= 2; attempt++)
            {
                await using Delivery<string> delivery = await queue.ReceiveAsync(s_ttl);
                Assert.Equal(("poison", attempt), (delivery.Value, delivery.Attempt));
                item = delivery.Item;
                if (attempt == 1) await queue.AbandonAsync(delivery);
            }

            await using (Delivery<string> good = await queue.ReceiveAsync(s_ttl))
            {
                Assert.Equal("good", good.Value);
                await queue.CompleteAsync(good);
            }

            Assert.Equal([new(item, "poison")], await queue.DeadLettersAsync());
            Assert.Null(await queue.TryReceiveAsync(s_ttl));
            Assert.True(await queue.ReviveAsync(item));
            Assert.False(await queue.ReviveAsync(item));
            await using (Delivery<string> revived = await queue.ReceiveAsync(s_ttl)) Assert.Equal(1, revived.Attempt);
            await using (Delivery<string> last = await queue.ReceiveAsync(s_ttl)) Assert.Equal(2, last.Attempt);
            Assert.True(await queue.DropAsync(item));
            Assert.Empty(await queue.DeadLettersAsync());
        });

    [Fact]
    public void A_delivery_that_is_completed_is_not_lost() => CoordinationWorld.Run(9, async (world, time) =>
    {
        Queue queue = await world.NewProcess().OpenAsync<Queue>();
        await queue.EnqueueAsync("a");
        Delivery<string> delivery = await queue.ReceiveAsync(s_ttl);
        await queue.CompleteAsync(delivery);
        await Task.Delay(3 * s_ttl, time);
        Assert.False(delivery.IsHeld);
        Assert.False(delivery.Lost.IsCancellationRequested);
        await delivery.DisposeAsync();
        Assert.True(delivery.Lost.IsCancellationRequested);
    });

    [Fact]
    public void Delivery_ends_when_the_completing_transaction_commits() =>
        CoordinationWorld.Run(10, async (world, time) =>
        {
            Process process = world.NewProcess();
            Queue queue = await process.OpenAsync<Queue>();
            await queue.EnqueueAsync("a");
            Delivery<string> delivery = await queue.ReceiveAsync(s_ttl);
            await using (process.Runtime.BeginTx()) await queue.CompleteAsync(delivery);
            await Task.Delay(3 * s_ttl, time);
            Assert.True(delivery.IsHeld);
            await using (TangoTransaction transaction = process.Runtime.BeginTx())
            {
                await queue.CompleteAsync(delivery);
                Assert.True(delivery.IsHeld);
                Assert.True((await transaction.EndTxAsync()).IsCommitted);
            }

            Assert.False(delivery.IsHeld);
            await Task.Delay(3 * s_ttl, time);
            Assert.False(delivery.Lost.IsCancellationRequested);
            await delivery.DisposeAsync();
            Assert.Equal((0, 0), (await queue.CountAsync(), await queue.DeliveredAsync()));
        });

    /// <summary>The consumer has sent its numbers to a process whose view is behind.</summary>
    [Fact]
    public void A_refusal_by_a_view_that_is_behind_aborts_the_transaction() =>
        CoordinationWorld.Run(10, async (world, _) =>
        {
            Process behind = world.NewProcess();
            Queue late = await behind.OpenAsync<Queue>("queue");
            var done = await behind.OpenAsync<TangoList<string>>("done");
            Queue queue = await world.NewProcess().OpenAsync<Queue>("queue");
            await queue.EnqueueAsync("a");
            await using Delivery<string> delivery = await queue.ReceiveAsync(s_ttl);
            await using (TangoTransaction tx = behind.Runtime.BeginTx(new TransactionOptions { Explicit = true }))
            {
                await Assert.ThrowsAsync<TangoRejectedException>(
                    () => tx.Use(late).CompleteAsync(delivery.Item, delivery.Token).AsTask());
                await tx.Use(done).AddAsync("the delivery is over");
                Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
            }

            TxOutcome outcome = await behind.Runtime.RunTransactionAsync(async _ =>
            {
                await late.CompleteAsync(delivery.Item, delivery.Token);
                await done.AddAsync("a");
            });
            Assert.IsType<TxOutcome.Committed>(outcome);
            Assert.Equal(["a"], await done.SnapshotAsync());
        });

    [Fact]
    public void Receive_within_a_transaction_is_refused() => CoordinationWorld.Run(7, async (world, _) =>
    {
        Process process = world.NewProcess();
        Queue queue = await process.OpenAsync<Queue>();
        await using TangoTransaction tx = process.Runtime.BeginTx();
        await queue.EnqueueAsync("a");
        await Assert.ThrowsAsync<TangoTransactionException>(() => queue.ReceiveAsync(s_ttl).AsTask());
        await Assert.ThrowsAsync<TangoTransactionException>(() => queue.TryReceiveAsync(s_ttl).AsTask());
    });

    [Fact]
    public void Cancelled_receive_stops_and_leaves_the_line() => CoordinationWorld.Run(8, async (world, time) =>
    {
        Queue queue = await world.NewProcess().OpenAsync<Queue>();
        using var stop = new CancellationTokenSource(s_ttl, time);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => queue.ReceiveAsync(s_ttl, stop.Token).AsTask());
        Assert.Equal(0, await queue.WaitingAsync());
    });

    [Fact]
    public void An_expiry_of_an_older_version_has_no_effect()
    {
        var view = new View<Queue>();
        view.Apply(5, Bytes.Key("tail"), Bytes.Arguments("a"));
        view.Apply(5, Bytes.Key("tail"), Bytes.Arguments("b"));
        // An item's number is not that of its delivery.
        view.Apply<Lookup<Taken<string>>>(6, Bytes.Key("head"), Bytes.Arguments(0L, 1000L));
        Taken<string> b =
            view.Apply<Lookup<Taken<string>>>(6, Bytes.Key("head"), Bytes.Arguments(0L, 1000L)).Value;
        Assert.True(view.Apply<bool>(7, Bytes.Key(new LeaseRenewal(b.Item)), Bytes.Arguments(b.Token)));
        view.Reload();
        view.Apply(10, Bytes.Key(b.Item), Bytes.Arguments(b.Token));
        Assert.Equal(0, view.Read<int>("ReadCount"));
        view.Apply(10, Bytes.Key(b.Item), Bytes.Arguments(b.Token + 1));
        Assert.Equal(1, view.Read<int>("ReadCount"));
        Assert.False(view.Apply<bool>(7, Bytes.Key(new LeaseRenewal(b.Item)), Bytes.Arguments(b.Token)));
        Assert.Throws<TangoRejectedException>(
            () => view.Apply(1, Bytes.Key(b.Item), Bytes.Arguments(b.Token)));
        view.Reload();
    }

    /// <summary>Consumers that die and stop at random: each item is done once.</summary>
    [Fact]
    public void Each_item_is_done_once_whatever_consumers_do()
    {
        const int items = 12;
        for (var seed = 0; seed < 6; seed++)
        {
            CoordinationWorld.Run(seed, async (world, time) =>
            {
                var random = new Random(seed);
                Process producer = world.NewProcess();
                Queue queue = await producer.OpenAsync<Queue>("queue");
                var done = await producer.OpenAsync<TangoList<string>>("done");
                await queue.SetMaxAttemptsAsync(1000);
                for (var i = 0; i < items; i++) await queue.EnqueueAsync($"{i:d2}");
                using var end = new CancellationTokenSource();
                Task consumers = Task.WhenAll(Enumerable.Range(0, 4).Select(
                    i => ConsumeAsync(world.NewProcess(), time, random, mayDie: i > 0, end.Token)));
                await done.WaitForAsync((d, t) => d.SnapshotAsync(t), static list => list.Count >= items);
                Assert.Equal(Enumerable.Range(0, items).Select(i => $"{i:d2}"), (await done.SnapshotAsync()).Order());
                end.Cancel();
                await consumers;
                Assert.Equal((0, 0), (await queue.CountAsync(), await queue.DeliveredAsync()));
            });
        }
    }

    private static async Task ConsumeAsync(
        Process process, TimeProvider time, Random random, bool mayDie, CancellationToken end)
    {
        Queue queue = await process.OpenAsync<Queue>("queue");
        var done = await process.OpenAsync<TangoList<string>>("done");
        while (!end.IsCancellationRequested)
        {
            try
            {
                await using Delivery<string> delivery = await queue.ReceiveAsync(s_ttl, end);
                if (random.Next(4) == 0) process.Clock.Stop();
                await Task.Delay(TimeSpan.FromMilliseconds(random.Next(6000)), time, end);
                process.Clock.GoOn();
                if (mayDie && random.Next(6) == 0)
                {
                    await process.DieAsync();
                    return;
                }

                TxOutcome outcome = await process.Runtime.RunTransactionAsync(async _ =>
                {
                    await queue.CompleteAsync(delivery);
                    await done.AddAsync(delivery.Value);
                });
                outcome.ThrowIfNotCommitted();
            }
            catch (Exception e) when (e is TangoRejectedException or OperationCanceledException)
            {
                process.Clock.GoOn();
            }
        }
    }
}
