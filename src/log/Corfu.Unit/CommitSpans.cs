using System.Diagnostics;

namespace Corfu.Unit;

/// <summary>The span of a group commit, linked to the requests that it made durable. A commit that no recorded request
/// waited for has none.</summary>
internal sealed class CommitSpans
{
    private readonly List<ActivityLink> _requests = [];

    public void Add(ActivityContext request)
    {
        if (request.TraceId != default) _requests.Add(new ActivityLink(request));
    }

    /// <param name="took">The time of the write and the sync, which have just ended.</param>
    public void Record(TimeSpan took)
    {
        if (_requests.Count == 0) return;
        // In the first request's trace: a trace is sampled whole.
        using var span = UnitTelemetry.Activities.StartActivity("corfu.unit.commit", ActivityKind.Internal,
            _requests[0].Context, links: _requests, startTime: TimeProvider.System.GetUtcNow() - took);
        span?.SetTag("corfu.requests", _requests.Count);
    }
}
