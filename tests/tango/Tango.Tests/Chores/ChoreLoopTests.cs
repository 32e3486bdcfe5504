using Corfu.TestKit;
using Tango.Chores;

namespace Tango.Tests.Chores;

/// <summary>A runtime's loop runs each chore when it is due, beside the others.</summary>
public class ChoreLoopTests
{
    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Chores_run_in_the_order_of_due_times() => Run(async (loop, time) =>
    {
        List<string> ran = [];
        var (late, early) = (new Chore(time, () => ran.Add("late")), new Chore(time, () => ran.Add("early")));
        loop.Schedule(late, 2 * s_second);
        loop.Schedule(early, s_second);
        await Task.Delay(3 * s_second, time);
        Assert.Equal(["early", "late"], ran);
        Assert.Equal([s_second], early.Times);
        Assert.Equal([2 * s_second], late.Times);
    });

    [Fact]
    public void Chore_with_a_next_time_runs_again() => Run(async (loop, time) =>
    {
        var chore = new Chore(time) { Next = s_second };
        loop.Schedule(chore, TimeSpan.Zero);
        await Task.Delay(2.5 * s_second, time);
        chore.Next = null;
        await Task.Delay(5 * s_second, time);
        Assert.Equal([TimeSpan.Zero, s_second, 2 * s_second, 3 * s_second], chore.Times);
    });

    [Theory]
    [InlineData(1, 3)]
    [InlineData(3, 1)]
    public void Queued_chore_runs_once_at_the_earliest_time(int first, int second) => Run(async (loop, time) =>
    {
        var chore = new Chore(time);
        loop.Schedule(chore, first * s_second);
        loop.Schedule(chore, second * s_second);
        await Task.Delay(10 * s_second, time);
        Assert.Equal([s_second], chore.Times);
    });

    [Fact]
    public void Slow_chore_delays_itself_only() => Run(async (loop, time) =>
    {
        var slow = new Chore(time) { Length = 10 * s_second, Next = s_second };
        var other = new Chore(time) { Next = s_second };
        loop.Schedule(slow, TimeSpan.Zero);
        loop.Schedule(other, s_second);
        await Task.Delay(3.5 * s_second, time);
        Assert.Equal([s_second, 2 * s_second, 3 * s_second], other.Times);
        await Task.Delay(10 * s_second, time);
        Assert.Equal([TimeSpan.Zero, 11 * s_second], slow.Times);
    });

    [Fact]
    public void Running_chore_scheduled_anew_runs_again_at_the_end() => Run(async (loop, time) =>
    {
        var chore = new Chore(time) { Length = 2 * s_second };
        loop.Schedule(chore, TimeSpan.Zero);
        await Task.Delay(s_second, time);
        loop.Schedule(chore, TimeSpan.Zero);
        await Task.Delay(10 * s_second, time);
        Assert.Equal([TimeSpan.Zero, 2 * s_second], chore.Times);
    });

    [Fact]
    public void Failed_chore_is_tried_again_after_a_second() => Run(async (loop, time) =>
    {
        var chore = new Chore(time, static () => throw new InvalidOperationException());
        var other = new Chore(time) { Next = s_second };
        loop.Schedule(chore, TimeSpan.Zero);
        loop.Schedule(other, 1.5 * s_second);
        await Task.Delay(2.75 * s_second, time);
        Assert.Equal([TimeSpan.Zero, s_second, 2 * s_second], chore.Times);
        Assert.Equal([1.5 * s_second, 2.5 * s_second], other.Times);
    });

    [Fact]
    public void Loop_without_a_queued_chore_has_no_timer() => Run(async (loop, time) =>
    {
        var chore = new Chore(time);
        loop.Schedule(chore, s_second);
        await Task.Delay(2 * s_second, time);
        Assert.Single(chore.Times);
        Assert.False(time.FireNext());
    });

    [Fact]
    public void Ended_runtime_starts_no_chore() => SeededContext.Run(1, async time =>
    {
        using var lifetime = new CancellationTokenSource();
        var loop = new ChoreLoop(time, SeededContext.Loops, lifetime.Token);
        var (queued, late) = (new Chore(time), new Chore(time));
        loop.Schedule(queued, s_second);
        lifetime.Cancel();
        loop.Schedule(late, TimeSpan.Zero);
        await Task.Delay(2 * s_second, time);
        Assert.Empty(queued.Times);
        Assert.Empty(late.Times);
        Assert.False(time.FireNext());
    });

    private static void Run(Func<ChoreLoop, VirtualTime, Task> body)
    {
        for (var seed = 1; seed <= 20; seed++)
        {
            SeededContext.Run(seed, time => body(
                new ChoreLoop(time, SeededContext.Loops, CancellationToken.None), time));
        }
    }

    private sealed class Chore(VirtualTime time, Action? work = null) : IChore
    {
        private readonly long _created = time.GetTimestamp();
        private bool _isRunning;

        public List<TimeSpan> Times { get; } = [];

        public TimeSpan Length { get; init; }

        public TimeSpan? Next { get; set; }

        public async Task<TimeSpan?> RunAsync()
        {
            Assert.False(_isRunning);
            _isRunning = true;
            try
            {
                Times.Add(time.GetElapsedTime(_created));
                if (Length > TimeSpan.Zero) await Task.Delay(Length, time);
                work?.Invoke();
                return Next;
            }
            finally
            {
                _isRunning = false;
            }
        }
    }
}
