namespace Corfu.Server;

/// <summary>Bounds the log lines that peers cause: ten of a kind in 10 s, then a count. A log file keeps a few
/// megabytes, and no peer may erase what they say.</summary>
internal sealed class LineLimit(TimeProvider time)
{
    internal const int Lines = 10;

    internal static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();

    // Guarded by _gate. A kind's window and the lines asked for in it. Kinds are words of the program, so they are few.
    private readonly Dictionary<string, (long Began, int Asked)> _kinds = [];

    public bool Admits(string kind)
    {
        lock (_gate)
        {
            var known = _kinds.GetValueOrDefault(kind, (Began: time.GetTimestamp(), Asked: 0));
            _kinds[kind] = known with { Asked = Math.Min(known.Asked, int.MaxValue - 1) + 1 };
            return known.Asked < Lines;
        }
    }

    /// <summary>Ends the windows that are over.</summary>
    /// <returns>The kinds of which lines were left out, and how many.</returns>
    public List<(string Kind, int LeftOut)> TakeLeftOut()
    {
        List<(string Kind, int LeftOut)> leftOut = [];
        lock (_gate)
        {
            foreach (var (kind, (began, asked)) in _kinds)
            {
                if (time.GetElapsedTime(began) < Window) continue;
                _kinds.Remove(kind);
                if (asked > Lines) leftOut.Add((kind, asked - Lines));
            }
        }

        return leftOut;
    }
}
