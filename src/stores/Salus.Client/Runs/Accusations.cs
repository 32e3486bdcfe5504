namespace Salus.Runs;

/// <summary>Accusations that were made a moment ago are not repeated: each is a record on the log. Any
/// thread.</summary>
internal sealed class Accusations(TimeProvider time, TimeSpan pause)
{
    private const int Most = 1024;

    private readonly Lock _gate = new();
    private readonly Dictionary<(Incarnation Member, SuspicionKind Kind), long> _made = [];

    /// <summary>False: the member was accused of this a moment ago.</summary>
    public bool TryBegin(Incarnation member, SuspicionKind kind)
    {
        lock (_gate)
        {
            if (_made.TryGetValue((member, kind), out var at) && time.GetElapsedTime(at) < pause) return false;
            if (_made.Count >= Most) _made.Clear();
            _made[(member, kind)] = time.GetTimestamp();
            return true;
        }
    }
}
