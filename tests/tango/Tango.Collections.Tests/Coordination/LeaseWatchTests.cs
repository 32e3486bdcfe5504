using Corfu;

namespace Tango.Collections.Tests;

/// <summary>Tests of what it costs to watch leases, and of what ends when code of the user fails.</summary>
public sealed partial class LeaseWatchTests
{
    private static readonly TimeSpan s_long = TimeSpan.FromHours(1);

    [Fact]
    public void Locks_of_many_objects_cost_an_idle_process_one_check_a_second() =>
        CoordinationWorld.Run(1, async (world, time) =>
        {
            var checks = 0;
            Process holder = world.NewProcess();
            Process idle = world.NewProcess(cursor: inner => new CountingCursor(inner, () => checks++));
            for (var i = 0; i < 300; i++)
            {
                Assert.NotNull(await (await holder.OpenAsync<TangoLock>($"{i}")).TryAcquireAsync(s_long));
                await idle.OpenAsync<TangoLock>($"{i}");
            }

            await idle.Runtime.SyncAsync();
            checks = 0;
            await Task.Delay(TimeSpan.FromSeconds(10), time);
            Assert.InRange(checks, 5, 20);
        });

    [Fact]
    public void Leases_that_are_short_cost_at_most_20_checks_a_second() =>
        CoordinationWorld.Run(2, async (world, time) =>
        {
            var checks = 0;
            Process idle = world.NewProcess(cursor: inner => new CountingCursor(inner, () => checks++));
            var owners = await world.NewProcess().OpenAsync<TangoLeasedDictionary<string, int>>();
            await idle.OpenAsync<TangoLeasedDictionary<string, int>>();
            await using TangoLease lease = await owners.GrantAsync(TimeSpan.FromMilliseconds(10));
            await idle.Runtime.SyncAsync();
            checks = 0;
            await Task.Delay(TimeSpan.FromSeconds(10), time);
            Assert.InRange(checks, 100, 205);
        });

    [Fact]
    public void A_short_lease_ends_in_time_while_long_ones_are_watched() =>
        CoordinationWorld.Run(3, async (world, time) =>
        {
            Process process = world.NewProcess();
            await using HeldLock? held = await (await process.OpenAsync<TangoLock>("long")).TryAcquireAsync(s_long);
            var entries = await process.OpenAsync<TangoLeasedDictionary<string, int>>("short");
            // Within the pause that the long one allows.
            await Task.Delay(TimeSpan.FromMilliseconds(1100), time);
            await entries.SetAsync("a", 1, TimeSpan.FromMilliseconds(100));
            Assert.Equal(1, await entries.CountAsync());
            await Task.Delay(TimeSpan.FromMilliseconds(160), time);
            Assert.Equal(0, await entries.CountAsync());
        });

    [Fact]
    public void Leases_of_a_dead_process_end_while_other_leases_come_and_go() =>
        CoordinationWorld.Run(4, async (world, time) =>
        {
            Process process = world.NewProcess();
            var entries = await process.OpenAsync<TangoLeasedDictionary<string, int>>("entries");
            var busy = await process.OpenAsync<TangoLock>("busy");
            await entries.SetAsync("a", 1, TimeSpan.FromSeconds(2));
            for (var i = 0; i < 300; i++)
            {
                await using HeldLock? held = await busy.TryAcquireAsync(s_long);
                await Task.Delay(TimeSpan.FromMilliseconds(10), time);
            }

            Assert.Equal(0, await entries.CountAsync());
        });

    [Fact]
    public void Silent_leases_of_many_entries_end_together_and_not_once_for_each_observer() =>
        CoordinationWorld.Run(5, async (world, time) =>
        {
            List<TangoLeasedDictionary<int, int>> all = [];
            foreach (var number in new[] { 3_000_000, 3_001_000, 3_002_000 })
                all.Add(await world.NewProcess(new Identity(number)).OpenAsync<TangoLeasedDictionary<int, int>>());
            for (var i = 0; i < 3000; i++) await all[0].SetAsync(i, i, TimeSpan.FromSeconds(30));
            var before = await TailAsync();
            await Task.Delay(TimeSpan.FromSeconds(40), time);
            Assert.Equal(0, await all[1].CountAsync());
            // Calls that are sent at once share entries.
            Assert.InRange(await TailAsync() - before, 3, 300);

            async Task<long> TailAsync() => (await world.Log.CheckAsync([])).Tail.Offset;
        });

    [Fact]
    public void An_object_that_cannot_be_made_stops_no_other() => CoordinationWorld.Run(6, async (world, time) =>
    {
        Process process = world.NewProcess();
        var fragile = await process.OpenAsync<Fragile>("fragile");
        var entries = await process.OpenAsync<TangoLeasedDictionary<string, int>>("entries");
        await fragile.TouchAsync();
        Assert.Equal(1, await fragile.TouchesAsync());
        Fragile.Breaks = true;
        try
        {
            await entries.SetAsync("a", 1, TimeSpan.FromSeconds(1));
            await Task.Delay(TimeSpan.FromSeconds(3), time);
            Assert.Equal(0, await entries.CountAsync());
        }
        finally
        {
            Fragile.Breaks = false;
        }
    });

    [TangoObject("test-fragile-leases")]
    internal sealed partial class Fragile : TangoObject, ITangoLeased
    {
#pragma warning disable TANGO010 // The test breaks the class for all that run on its thread.
        [ThreadStatic]
        private static bool t_breaks;
#pragma warning restore TANGO010

        private long _touched;

        public Fragile()
        {
            if (Breaks) throw new InvalidOperationException("of the user");
        }

        public static bool Breaks
        {
            get => t_breaks;
            set => t_breaks = value;
        }

        IEnumerable<LeaseInfo> ITangoLeased.Leases =>
            _touched == 0 ? [] : [new LeaseInfo(1, _touched, TimeSpan.FromMilliseconds(100))];

        ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) => default;

        [Mutator(1)]
        public partial ValueTask TouchAsync(CancellationToken cancellationToken = default);

        [Accessor]
        public partial ValueTask<long> TouchesAsync(CancellationToken cancellationToken = default);

        private void ApplyTouch() => _touched++;

        private long ReadTouches() => _touched;
    }

    /// <summary>A runtime whose number is given.</summary>
    private sealed class Identity(int number) : IEntropy
    {
        private int _given;

        public Guid NewGuid()
        {
            var bytes = new byte[16];
            BitConverter.TryWriteBytes(bytes, (long)number);
            BitConverter.TryWriteBytes(bytes.AsSpan(8), _given++);
            return new Guid(bytes);
        }

        public double NextDouble() => 0.5;
    }
}
