using System.Diagnostics;

namespace Corfu.Unit;

/// <summary>The span of a group commit, linked to the requests that it made durable. A commit that no recorded request
/// waited for has none.</summary>
/// <param name="took">The time of the write and the sync, which have just ended. The span includes the answers
/// too.</param>
internal sealed class CommitSpans(TimeSpan took)
{
    private readonly DateTimeOffset _began = TimeProvider.System.GetUtcNow() - took;
    private readonly List<ActivityLink> _requests = [];

    public void Add(ActivityContext request)
    {
        if (request.TraceId != default) _requests.Add(new ActivityLink(request));
    }

    public void Record()
    {
        if (_requests.Count == 0) return;
        // In the first request's trace: a trace is sampled whole.
        using var span = UnitTelemetry.Activities.StartActivity("corfu.unit.commit", ActivityKind.Internal,
            _requests[0].Context, links: _requests, startTime: _began);
        span?.SetTag("corfu.requests", _requests.Count);
    }
}
