using Corfu.Simulation.Cluster;

namespace Corfu.Simulation.Checkers;

/// <summary>
/// Checker <c>trim-point</c>: what a reader was told it holds is not trimmed before it begins to let go, and no reader
/// is told that it holds what may be gone. What openers and undecided commit records need is not trimmed.
/// </summary>
public sealed class TrimPointChecker(ClusterMonitor monitor)
{
    // Acknowledged, and not yet being let go.
    private readonly SortedDictionary<string, long> _held = new(StringComparer.Ordinal);

    /// <summary>Everything below was asked to be trimmed.</summary>
    public long Trimmed { get; private set; }

    public void Held(string name, long position)
    {
        if (position < Trimmed)
            monitor.Found(CheckerNames.TrimPoint,
                $"{name} holds the log from {position} on, and it is trimmed below {Trimmed}");
        _held[name] = position;
    }

    public void LettingGo(string name) => _held.Remove(name);

    public void Trimming(int client, long below)
    {
        foreach ((string name, long position) in _held)
        {
            if (position < below)
                monitor.Found(CheckerNames.TrimPoint,
                    $"client {client} trims below {below}, and {name} holds the log from {position} on");
        }

        Trimmed = Math.Max(Trimmed, below);
    }

    public void Needed(int client, long below, string why) =>
        monitor.Found(CheckerNames.TrimPoint, $"client {client} trims below {below}: {why}");
}
