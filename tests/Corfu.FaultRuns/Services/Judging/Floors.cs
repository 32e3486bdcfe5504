namespace Corfu.FaultRuns.Services.Judging;

/// <summary>The greatest number that had been told at each moment: what begins later must not show less.</summary>
internal sealed class Floors
{
    private readonly long[] _times;
    private readonly long[] _floors;

    public Floors(IEnumerable<(long Ended, long Number)> told)
    {
        var ordered = told.Order().ToArray();
        _times = [.. ordered.Select(static one => one.Ended)];
        _floors = new long[ordered.Length];
        var floor = long.MinValue;
        for (var i = 0; i < ordered.Length; i++) _floors[i] = floor = Math.Max(floor, ordered[i].Number);
    }

    /// <summary>The greatest number that had been told before a moment.</summary>
    public long Before(long moment)
    {
        var index = Array.BinarySearch(_times, moment);
        if (index < 0) index = ~index;
        while (index > 0 && _times[index - 1] == moment) index--;
        return index == 0 ? long.MinValue : _floors[index - 1];
    }
}
