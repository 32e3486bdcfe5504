using Queue = Tango.Collections.TangoWorkQueue<string>;

namespace Tango.Collections.Tests;

/// <summary>Receivers that wait in line.</summary>
public sealed class WorkQueueLineTests
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromSeconds(3);

    // No renewal falls into a test.
    private static readonly TimeSpan s_long = TimeSpan.FromHours(3);

    private static readonly byte[] s_line = Bytes.Key("line");

    [Fact]
    public void Item_costs_one_entry_to_deliver_however_many_receivers_wait() =>
        CoordinationWorld.Run(1, async (world, time) =>
        {
            const int processes = 20;
            const int receivers = 5;
            Queue queue = await world.NewProcess().OpenAsync<Queue>();
            List<Task<Delivery<string>>> waiting = [];
            for (var i = 0; i < processes; i++)
            {
                Queue own = await world.NewProcess().OpenAsync<Queue>();
                for (var j = 0; j < receivers; j++) waiting.Add(own.ReceiveAsync(s_long).AsTask());
            }

            await WaitForLineAsync(queue, processes * receivers);
            for (var i = 1; i <= 3; i++)
            {
                var before = await world.CountEntriesAsync();
                await queue.EnqueueAsync($"{i}");
                await Task.Delay(s_ttl, time);
                Assert.Equal(i, waiting.Count(static receiver => receiver.IsCompleted));
                Assert.Equal(before + 2, await world.CountEntriesAsync());
            }
        });

    [Fact]
    public void Item_that_is_ready_costs_one_entry_to_deliver() => CoordinationWorld.Run(2, async (world, _) =>
    {
        Queue queue = await world.NewProcess().OpenAsync<Queue>();
        for (var i = 0; i < 5; i++) await queue.EnqueueAsync($"{i}");
        var before = await world.CountEntriesAsync();
        for (var i = 0; i < 5; i++) Assert.Equal($"{i}", (await queue.ReceiveAsync(s_long)).Value);
        Assert.Null(await queue.TryReceiveAsync(s_long));
        Assert.Equal(before + 5, await world.CountEntriesAsync());
    });

    [Fact]
    public void Receivers_that_wait_check_no_log_when_a_consumer_renews() =>
        CoordinationWorld.Run(3, async (world, time) =>
        {
            var checks = 0;
            Queue queue = await world.NewProcess().OpenAsync<Queue>();
            await queue.EnqueueAsync("work");
            await using Delivery<string> delivery = await queue.ReceiveAsync(s_long);
            // Plays only what the test lets it play.
            Process idle = world.NewProcess(
                cursor: inner => new CountingCursor(inner, () => checks++),
                options: new TangoOptions { WaitInterval = s_long });
            Queue own = await idle.OpenAsync<Queue>();
            for (var i = 0; i < 10; i++) _ = own.ReceiveAsync(s_long).AsTask();
            await WaitForLineAsync(queue, 10);
            await PlayAsync();
            checks = 0;
            for (var i = 0; i < 5; i++)
            {
                Assert.True(await queue.RenewAsync(delivery.Item, delivery.Token));
                await PlayAsync();
            }

            Assert.Equal(5, checks);

            async Task PlayAsync()
            {
                await idle.Runtime.SyncAsync();
                await Task.Delay(TimeSpan.FromMilliseconds(1), time);
            }
        });

    [Fact]
    public void Receivers_get_items_in_order_of_arrival() => CoordinationWorld.Run(4, async (world, _) =>
    {
        Queue queue = await world.NewProcess().OpenAsync<Queue>();
        List<Task<Delivery<string>>> waiting = [];
        for (var i = 0; i < 4; i++)
        {
            waiting.Add((await world.NewProcess().OpenAsync<Queue>()).ReceiveAsync(s_long).AsTask());
            await WaitForLineAsync(queue, i + 1);
        }

        for (var i = 0; i < 4; i++)
        {
            await queue.EnqueueAsync($"{i}");
            Assert.Equal($"{i}", (await waiting[i]).Value);
        }

        Assert.Equal(0, await queue.WaitingAsync());
    });

    [Fact]
    public void Receiver_that_leaves_passes_the_call_on() => CoordinationWorld.Run(5, async (world, time) =>
    {
        Queue queue = await world.NewProcess().OpenAsync<Queue>();
        // Does not see that it is called.
        Queue blind = await world.NewProcess(options: new TangoOptions { WaitInterval = s_long }).OpenAsync<Queue>();
        using var stop = new CancellationTokenSource();
        Task<Delivery<string>> leaving = blind.ReceiveAsync(s_long, stop.Token).AsTask();
        await WaitForLineAsync(queue, 1);
        Task<Delivery<string>> next = queue.ReceiveAsync(s_long).AsTask();
        await WaitForLineAsync(queue, 2);
        await queue.EnqueueAsync("a");
        await Task.Delay(TimeSpan.FromMilliseconds(100), time);
        Assert.False(next.IsCompleted);
        stop.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => leaving);
        Assert.Equal(("a", 1), ((await next).Value, (await next).Attempt));
    });

    [Fact]
    public void Call_of_a_receiver_that_dies_goes_to_the_next_after_the_time_to_live() =>
        CoordinationWorld.Run(6, async (world, time) =>
        {
            Process dying = world.NewProcess();
            Queue queue = await world.NewProcess().OpenAsync<Queue>();
            // Has the number of the ticket, and lives.
            await queue.EnqueueAsync("first");
            await using Delivery<string> kept = await queue.ReceiveAsync(s_ttl);
            Task<Delivery<string>> dead = (await dying.OpenAsync<Queue>()).ReceiveAsync(s_ttl).AsTask();
            await WaitForLineAsync(queue, 1);
            await dying.DieAsync();
            await Assert.ThrowsAsync<ObjectDisposedException>(() => dead);
            long died = time.GetTimestamp();
            await queue.EnqueueAsync("second");
            await using Delivery<string> delivery = await queue.ReceiveAsync(s_ttl);
            Assert.Equal("second", delivery.Value);
            Assert.InRange(time.GetElapsedTime(died), s_ttl / 2, 2 * s_ttl);
            Assert.True(kept.IsHeld);
            await queue.CompleteAsync(kept);
        });

    [Fact]
    public void Receiver_that_was_stopped_stands_in_line_anew() => CoordinationWorld.Run(7, async (world, time) =>
    {
        Process stopped = world.NewProcess();
        Queue queue = await world.NewProcess().OpenAsync<Queue>();
        Task<Delivery<string>> late = (await stopped.OpenAsync<Queue>()).ReceiveAsync(s_ttl).AsTask();
        await WaitForLineAsync(queue, 1);
        stopped.Clock.Stop();
        await queue.EnqueueAsync("a");
        await using Delivery<string> other = await queue.ReceiveAsync(s_ttl);
        Assert.Equal(("a", 1), (other.Value, other.Attempt));
        Assert.Equal(0, await queue.WaitingAsync());
        stopped.Clock.GoOn();
        await WaitForLineAsync(queue, 1);
        await queue.EnqueueAsync("b");
        Assert.Equal("b", (await late).Value);
    });

    [Fact]
    public void Item_that_is_given_back_expired_or_revived_calls_a_receiver() =>
        CoordinationWorld.Run(8, async (world, _) =>
        {
            Process dying = world.NewProcess();
            Queue queue = await world.NewProcess().OpenAsync<Queue>();
            Queue other = await dying.OpenAsync<Queue>();
            await queue.SetMaxAttemptsAsync(2);
            await queue.EnqueueAsync("a");
            Delivery<string> first = await other.ReceiveAsync(s_ttl);
            Task<Delivery<string>> waiting = await WaitAsync();
            await other.AbandonAsync(first);
            Delivery<string> second = await waiting;
            await queue.AbandonAsync(second);
            waiting = await WaitAsync();
            Assert.True(await queue.ReviveAsync(second.Item));
            Delivery<string> third = await waiting;
            Assert.Equal(1, third.Attempt);
            await third.DisposeAsync();

            await other.ReceiveAsync(s_ttl);
            await queue.SetMaxAttemptsAsync(3);
            waiting = await WaitAsync();
            await dying.DieAsync();
            Assert.Equal(3, (await waiting).Attempt);

            async Task<Task<Delivery<string>>> WaitAsync()
            {
                Task<Delivery<string>> receiving = queue.ReceiveAsync(s_ttl).AsTask();
                await WaitForLineAsync(queue, 1);
                return receiving;
            }
        });

    [Fact]
    public void TryReceive_leaves_the_item_of_a_called_receiver() =>
        CoordinationWorld.Run(9, async (world, _) =>
        {
            Queue queue = await world.NewProcess().OpenAsync<Queue>();
            Process called = world.NewProcess(options: new TangoOptions { WaitInterval = s_long });
            Task<Delivery<string>> waiting = (await called.OpenAsync<Queue>()).ReceiveAsync(s_long).AsTask();
            await WaitForLineAsync(queue, 1);
            await queue.EnqueueAsync("a");
            Assert.Null(await queue.TryReceiveAsync(s_long));
            await queue.EnqueueAsync("b");
            Assert.NotNull(await queue.TryReceiveAsync(s_long));
            Assert.Null(await queue.TryReceiveAsync(s_long));
            await called.Runtime.SyncAsync();
            Assert.Equal("b", (await waiting).Value);
        });

    /// <summary>Also where its record was sent before the receiver was called.</summary>
    [Fact]
    public void Take_without_a_ticket_leaves_the_items_of_the_line()
    {
        var view = new View<Queue>();
        long first = Enter(view);
        long second = Enter(view);
        Add(view, "a");
        Assert.False(Take(view, 0).Found);
        Assert.False(Take(view, second).Found);
        Add(view, "b");
        Assert.False(Take(view, 0).Found);
        Add(view, "c");
        Assert.Equal("a", Take(view, 0).Value.Value);
        view.Reload();
        Assert.Equal("b", Take(view, second).Value.Value);
        Assert.False(Take(view, second).Found);
        Assert.Equal("c", Take(view, first).Value.Value);
        Assert.Equal(0, view.Read<int>("ReadWaiting"));
    }

    [Fact]
    public void Ticket_that_ended_takes_no_item_and_the_next_is_called()
    {
        var view = new View<Queue>();
        long gone = Enter(view);
        long silent = Enter(view);
        long last = Enter(view);
        Add(view, "a");
        view.Apply(13, s_line, Bytes.Arguments(gone));
        Assert.False(Take(view, gone).Found);
        Assert.False(view.Apply<bool>(12, s_line, Bytes.Arguments(gone)));
        // An expiry of an older version has no effect.
        Assert.True(view.Apply<bool>(12, s_line, Bytes.Arguments(silent)));
        view.Apply(14, s_line, Bytes.Arguments(silent, silent));
        Assert.False(Take(view, last).Found);
        view.Reload();
        view.Apply(14, s_line, Bytes.Arguments(silent, last + 1));
        Assert.False(Take(view, silent).Found);
        Assert.Equal("a", Take(view, last).Value.Value);
        Assert.True(Enter(view) > last + 1);
    }

    [Fact]
    public void Ticket_and_item_of_one_number_are_two_leases()
    {
        var view = new View<Queue>();
        Add(view, "a");
        Assert.Equal(1, Take(view, 0).Value.Item);
        Assert.Equal(1, Enter(view));
        Assert.Equal([-1L, 1L], view.Leases.Select(static lease => lease.Id).Order());
    }

    private static ValueTask<int> WaitForLineAsync(Queue queue, int length) =>
        queue.WaitForAsync(static (self, token) => self.WaitingAsync(token), waiting => waiting == length);

    private static void Add(View<Queue> view, string item) => view.Apply(5, Bytes.Key("tail"), Bytes.Arguments(item));

    private static long Enter(View<Queue> view) => view.Apply<long>(11, s_line, Bytes.Arguments(1000L));

    private static Lookup<Taken<string>> Take(View<Queue> view, long ticket) =>
        view.Apply<Lookup<Taken<string>>>(6, Bytes.Key("head"), Bytes.Arguments(ticket, 1000L));
}
