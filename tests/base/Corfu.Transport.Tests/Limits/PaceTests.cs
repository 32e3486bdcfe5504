using Corfu.Server;

namespace Corfu.Transport.Tests.Limits;

public sealed class PaceTests
{
    private readonly ManualTime _time = new();
    private readonly Pace _pace;

    public PaceTests() => _pace = new Pace(_time);

    [Fact]
    public void Second_worth_is_free_and_more_waits_until_paid_for()
    {
        Assert.Equal(TimeSpan.Zero, _pace.Take(1000, 1000));
        Assert.Equal(TimeSpan.FromSeconds(0.5), _pace.Take(500, 1000));
        _time.Advance(TimeSpan.FromSeconds(0.5));
        Assert.Equal(TimeSpan.FromSeconds(0.1), _pace.Take(100, 1000));
        _time.Advance(TimeSpan.FromSeconds(0.1));

        // Credit grows to one second's worth, no more.
        _time.Advance(TimeSpan.FromSeconds(60));
        Assert.Equal(TimeSpan.FromSeconds(1), _pace.Take(2000, 1000));
    }

    [Fact]
    public void Batch_larger_than_a_second_worth_is_taken_whole()
    {
        Assert.Equal(TimeSpan.FromSeconds(99), _pace.Take(100_000, 1000));
    }

    [Fact]
    public void Rate_in_the_long_run_is_the_one_asked_for()
    {
        var (began, taken) = (_time.GetTimestamp(), 0);
        while (_time.GetElapsedTime(began) < TimeSpan.FromSeconds(100))
        {
            taken += 64;
            while (_pace.Take(taken == 0 ? 0 : 64, 100) is { Ticks: > 0 } pause)
            {
                _time.Advance(pause);
                break;
            }
        }

        Assert.InRange(taken, 100 * 99, 100 * 102);
    }
}
