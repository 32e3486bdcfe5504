using System.ComponentModel;

namespace Corfu;

/// <summary>Pauses between attempts. They double with each failure, and have jitter: callers that failed together do
/// not try again in step.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class BackOff
{
    private const int MaxDoublings = 30;

    /// <param name="failures">Attempts that have failed, at least 1.</param>
    /// <param name="jitter">The share of the pause that is drawn: 1 for callers that collide with each other, half for
    /// those that wait for the same node.</param>
    public static TimeSpan After(int failures, TimeSpan first, TimeSpan longest, IEntropy entropy, double jitter = 0.5)
    {
        var full = Math.Min(
            first.TotalMilliseconds * Math.Pow(2, Math.Min(failures - 1, MaxDoublings)), longest.TotalMilliseconds);
        return TimeSpan.FromMilliseconds(full * (1 - jitter + (jitter * entropy.NextDouble())));
    }
}
