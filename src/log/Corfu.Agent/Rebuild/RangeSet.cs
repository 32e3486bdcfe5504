namespace Corfu.Agent;

/// <summary>Ranges of positions; touching ones are one, as the segments that they were may be merged.</summary>
internal sealed class RangeSet
{
    // Ascending, neither overlapping nor touching.
    private readonly List<(long From, long Until)> _ranges = [];

    public void Add(LogPosition from, LogPosition until)
    {
        var (first, end) = (from.Offset, until.Offset);
        var at = _ranges.FindIndex(r => r.Until >= first);
        if (at < 0) at = _ranges.Count;
        while (at < _ranges.Count && _ranges[at].From <= end)
        {
            (first, end) = (Math.Min(first, _ranges[at].From), Math.Max(end, _ranges[at].Until));
            _ranges.RemoveAt(at);
        }

        _ranges.Insert(at, (first, end));
    }

    public bool Covers(LogPosition from, LogPosition until) =>
        _ranges.Exists(r => r.From <= from.Offset && r.Until >= until.Offset);
}
