using Corfu.Server;

namespace Corfu.Transport.Tests.Limits;

public sealed class LineLimitTests
{
    private readonly ManualTime _time = new();
    private readonly LineLimit _limit;

    public LineLimitTests() => _limit = new LineLimit(_time);

    [Fact]
    public void Kind_has_a_few_lines_in_a_window_then_a_count()
    {
        Assert.Equal(LineLimit.Lines, Lines("frame time-out", 100));
        Assert.Equal(1, Lines("damaged frame", 1));
        _time.Advance(LineLimit.Window / 2);
        Assert.Empty(_limit.TakeLeftOut());
        Assert.Equal(0, Lines("frame time-out", 1));
        _time.Advance(LineLimit.Window / 2);
        var (kind, leftOut) = Assert.Single(_limit.TakeLeftOut());
        Assert.Equal(("frame time-out", 101 - LineLimit.Lines), (kind, leftOut));
        Assert.Empty(_limit.TakeLeftOut());
        Assert.Equal(LineLimit.Lines, Lines("frame time-out", 100));
    }

    private int Lines(string kind, int count) => Enumerable.Range(0, count).Count(_ => _limit.Admits(kind));
}
