namespace Corfu.Client;

/// <summary>When positions of an epoch were first seen granted (R10): the tails that its sequencer answered, with the
/// time. Thinned out, which only makes a position look younger than it is.</summary>
internal sealed class GrantClock(long resolution)
{
    private const int MaxSamples = 128;

    private readonly Lock _gate = new();

    // Ascending in both fields.
    private readonly List<(long Tail, long Time)> _samples = [];
    private long _sampleBegan;

    /// <summary>Exclusive: everything below is granted in this epoch or lies below its start.</summary>
    public long Tail
    {
        get
        {
            lock (_gate) return _samples.Count == 0 ? 0 : _samples[^1].Tail;
        }
    }

    public void Saw(LogPosition tail, long time)
    {
        lock (_gate)
        {
            if (_samples.Count > 0 && tail.Offset <= _samples[^1].Tail) return;
            if (_samples.Count > 0 && time - _sampleBegan < resolution)
            {
                _samples[^1] = (tail.Offset, time);
                return;
            }

            if (_samples.Count == MaxSamples) _samples.RemoveRange(0, MaxSamples / 2);
            _samples.Add((tail.Offset, time));
            _sampleBegan = time;
        }
    }

    /// <summary>False when the position is not known to be granted.</summary>
    public bool TryFirstSeen(LogPosition position, out long time)
    {
        lock (_gate)
        {
            var index = _samples.FindIndex(s => s.Tail > position.Offset);
            time = index < 0 ? 0 : _samples[index].Time;
            return index >= 0;
        }
    }
}
