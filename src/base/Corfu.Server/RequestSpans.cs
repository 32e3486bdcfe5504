using System.Collections.Concurrent;
using System.Diagnostics;

namespace Corfu.Server;

/// <summary>The spans of a connection's requests whose callers record them. Made with the first one, so that other
/// connections have none.</summary>
internal sealed class RequestSpans
{
    private readonly ConcurrentDictionary<uint, Activity> _open = new();

    public Activity? Begin(uint correlation, Opcode opcode, in ActivityContext caller)
    {
        var span = ServerTelemetry.Activities.StartActivity("corfu.request", ActivityKind.Server, caller);
        if (span is null) return null;
        span.SetTag("corfu.opcode", RequestTimes.NameOf(opcode));
        _open[correlation] = span;
        return span;
    }

    public ActivityContext Of(uint correlation) =>
        _open.TryGetValue(correlation, out var span) ? span.Context : default;

    public void End(uint correlation, Status status)
    {
        if (_open.TryRemove(correlation, out var span)) End(span, status.ToString());
    }

    /// <summary>The connection has ended; answers that come now go nowhere.</summary>
    public void EndAll()
    {
        foreach (var correlation in _open.Keys)
        {
            if (_open.TryRemove(correlation, out var span)) End(span, "lost");
        }
    }

    // The thread goes on with requests of others.
    private static void End(Activity span, string status)
    {
        var current = Activity.Current;
        span.SetTag("corfu.status", status);
        span.Dispose();
        Activity.Current = current == span ? null : current;
    }
}
