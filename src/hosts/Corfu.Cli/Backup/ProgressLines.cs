using System.Diagnostics;
using Corfu.Backup;

namespace Corfu.Cli;

/// <summary>A line a second at most: where a copy is, how far it is behind, how fast it goes.</summary>
internal sealed class ProgressLines(TextWriter error, string verb)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private long _reported = Stopwatch.GetTimestamp();
    private CopyProgress _before;

    public CopyProgress Last { get; private set; }

    public void Report(CopyProgress progress)
    {
        var idle = progress.Copied == Last.Copied && progress.Lag == Last.Lag;
        Last = progress;
        var elapsed = Stopwatch.GetElapsedTime(_reported);
        if (elapsed < Interval || idle) return;
        var rate = (progress.Positions - _before.Positions) / elapsed.TotalSeconds;
        var bytes = (progress.Bytes - _before.Bytes) / elapsed.TotalSeconds / (1 << 20);
        var left = rate > 0 ? $", {TimeSpan.FromSeconds(Math.Round(progress.Lag / rate)):g} left" : "";
        error.WriteLine(
            $"{verb} up to {progress.Copied.Offset}, {progress.Lag} behind, {rate:F0} positions/s, {bytes:F1} "
            + $"MiB/s{(progress.Lag > 0 ? left : "")}");
        _reported = Stopwatch.GetTimestamp();
        _before = progress;
    }
}
