using System.Diagnostics;

namespace Corfu.FaultRuns.Clients;

/// <summary>
/// A client's history: one line for each event, written before and after what it tells, so that a kill costs the last
/// line at most. Times are of the monotonic clock, which all processes of a machine share.
/// </summary>
internal sealed class HistoryWriter(string path) : IDisposable
{
    private readonly Lock _gate = new();
    private readonly StreamWriter _file = new(path, append: true) { AutoFlush = true };

    public static long Now => Stopwatch.GetTimestamp();

    public void Line(string text)
    {
        lock (_gate) _file.WriteLine(text);
    }

    public void Dispose() => _file.Dispose();
}
