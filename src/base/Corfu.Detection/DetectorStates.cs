namespace Corfu.Detection;

/// <summary>State of a process. An answer of any of its roles counts: a process that stands still answers in
/// none.</summary>
internal sealed class ProcessState(DetectorOptions options, TimeSpan watchedSince)
{
    private readonly ArrivalWindow _window = new(options);

    public TimeSpan LastAnswer { get; private set; } = watchedSince;

    public bool HasAnswered { get; private set; }

    /// <summary>The machine refuses connections: the process is not late, and its next answer comes from another
    /// start.</summary>
    public bool IsRefusing { get; private set; }

    public double Phi(TimeSpan now) => _window.Phi(now - LastAnswer);

    public void Answer(TimeSpan now)
    {
        if (HasAnswered && !IsRefusing) _window.Add(now - LastAnswer);
        HasAnswered = true;
        IsRefusing = false;
        LastAnswer = now;
    }

    public void Refuse() => IsRefusing = true;

    public void Forgive(TimeSpan stall) => LastAnswer += stall;
}

/// <summary>State of a node.</summary>
internal sealed class NodeState(NodeEndpoint endpoint, NodeRole role, ProcessState process, TimeSpan watchedSince,
    bool hasAnswered, bool mayReturn)
{
    private const double Smoothing = 0.1;

    public NodeEndpoint Endpoint => endpoint;

    public NodeRole Role => role;

    public ProcessState Process => process;

    public bool MayReturn => mayReturn;

    public TimeSpan WatchedSince { get; private set; } = watchedSince;

    public TimeSpan LastAnswer { get; private set; } = watchedSince;

    /// <summary>The time since which the node has answered without a failed probe in between.</summary>
    public TimeSpan AliveSince { get; private set; } = watchedSince;

    public bool HasAnswered { get; private set; } = hasAnswered;

    // Runs of like samples: each is broken by an answer. FirstRefusal has a meaning while Refusals > 0, and so on.
    public int Refusals { get; private set; }

    public TimeSpan FirstRefusal { get; private set; }

    public int Failures { get; private set; }

    public TimeSpan FirstFailure { get; private set; }

    public TimeSpan? FullSince { get; private set; }

    public TimeSpan? ReplacedSince { get; private set; }

    public TimeSpan? OverloadedSince { get; private set; }

    public TimeSpan? LeftAt { get; set; }

    public TimeSpan? SlowSince { get; set; }

    public bool IsSlow { get; set; }

    /// <summary>Smoothed, in milliseconds; zero before the first sample.</summary>
    public double RoundTrip { get; private set; }

    public void Record(ProbeSample sample, TimeSpan now)
    {
        switch (sample.Outcome)
        {
            case ProbeOutcome.Answered or ProbeOutcome.Full or ProbeOutcome.Failed:
                Answer(sample, now);
                break;
            case ProbeOutcome.Refused:
                if (Refusals++ == 0) FirstRefusal = now;
                break;
            case ProbeOutcome.Replaced:
                ReplacedSince ??= now;
                break;
            case ProbeOutcome.Overloaded:
                // A sign of life, and no more: whether the role is well is not known.
                OverloadedSince ??= now;
                LastAnswer = now;
                Refusals = 0;
                break;
            case ProbeOutcome.Nothing:
                Smooth(sample.RoundTrip);
                break;
        }
    }

    /// <summary>The agent itself stood still for so long.</summary>
    public void Forgive(TimeSpan stall)
    {
        LastAnswer += stall;
        FirstRefusal += stall;
        FirstFailure += stall;
        if (!HasAnswered) WatchedSince += stall;
        if (SlowSince is not null) SlowSince += stall;
    }

    private void Answer(ProbeSample sample, TimeSpan now)
    {
        if (!HasAnswered || Refusals > 0 || ReplacedSince is not null) AliveSince = now;
        HasAnswered = true;
        LastAnswer = now;
        Refusals = 0;
        ReplacedSince = null;
        OverloadedSince = null;
        LeftAt = null;
        FullSince = sample.Outcome == ProbeOutcome.Full ? FullSince ?? now : null;
        if (sample.Outcome != ProbeOutcome.Failed) Failures = 0;
        else if (Failures++ == 0) FirstFailure = now;
        Smooth(sample.RoundTrip);
    }

    private void Smooth(TimeSpan roundTrip)
    {
        var value = roundTrip.TotalMilliseconds;
        RoundTrip = RoundTrip == 0 ? value : RoundTrip + (Smoothing * (value - RoundTrip));
    }
}
