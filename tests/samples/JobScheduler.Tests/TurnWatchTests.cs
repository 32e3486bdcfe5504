using JobScheduler.Scheduling;

namespace JobScheduler.Tests;

public sealed class TurnWatchTests
{
    private static readonly TimeSpan Stall = TimeSpan.FromSeconds(1);

    private static readonly SchedulingLimits Limits = new()
    {
        TurnLength = 4,
        StallTimeout = Stall,
        StartsBeforeTurn = 1
    };

    private readonly ManualTime _time = new();

    [Fact]
    public void Turns_pass_after_the_agreed_number_of_starts()
    {
        TurnWatch[] watches = [.. Enumerable.Range(0, 3).Select(Watch)];
        for (int started = 0; started < 20; started++)
        {
            int[] mine = [.. Enumerable.Range(0, 3).Where(i => watches[i].IsMine(View(started)))];
            Assert.Equal([started / 4 % 3], mine);
        }
    }

    [Fact]
    public void Next_replica_takes_over_a_stalled_turn_and_keeps_the_turn()
    {
        TurnWatch next = Watch(1);
        TurnWatch last = Watch(2);
        Assert.False(next.IsMine(View(0)) || last.IsMine(View(0)));
        _time.Advance(Stall);
        Assert.True(next.IsMine(View(0)));
        Assert.False(last.IsMine(View(0)));
        Assert.True(last.IsStalled);
        Assert.True(next.IsMine(View(1)));
        Assert.False(next.IsStalled);
        Assert.False(next.IsMine(View(8)));
    }

    [Fact]
    public void Progress_of_any_kind_resets_the_stall()
    {
        TurnWatch next = Watch(1);
        Assert.False(next.IsMine(View(0)));
        _time.Advance(Stall * 0.9);
        Assert.False(next.IsMine(View(0) with { Submitted = 101, Pending = 101 }));
        _time.Advance(Stall * 0.9);
        Assert.False(next.IsMine(View(0) with { Submitted = 101, Pending = 101 }));
    }

    [Fact]
    public void Next_replica_alone_looks_often_and_only_shortly_before_the_turn()
    {
        TurnWatch next = Watch(1);
        TurnWatch last = Watch(2);
        next.IsMine(View(2));
        Assert.Equal(Limits.PollInterval, next.PollInterval);
        next.IsMine(View(3));
        last.IsMine(View(3));
        Assert.Equal(Limits.PollIntervalBeforeTurn, next.PollInterval);
        Assert.Equal(Limits.PollInterval, last.PollInterval);
    }

    private static SchedulerView View(int started) => new([], 100 - started, 100, 0, 4, []);

    private TurnWatch Watch(int replica) => new(replica, 3, Limits, _time);

    private sealed class ManualTime : TimeProvider
    {
        private long _now;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public void Advance(TimeSpan by) => _now += by.Ticks;

        public override long GetTimestamp() => _now;
    }
}
