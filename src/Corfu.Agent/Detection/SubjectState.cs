namespace Corfu.Agent;

/// <summary>What is remembered of one node.</summary>
internal sealed class SubjectState(DetectorOptions options, TimeSpan watchedSince)
{
    private const double Smoothing = 0.1;

    public ArrivalWindow Window { get; } = new(options);

    public TimeSpan WatchedSince { get; set; } = watchedSince;

    public TimeSpan LastAnswer { get; set; } = watchedSince;

    /// <summary>How long it has answered without a failed look in between.</summary>
    public TimeSpan AliveSince { get; private set; } = watchedSince;

    public bool HasAnswered { get; private set; }

    // Runs of like samples: each is broken by an answer. _firstRefusal has a meaning while Refusals > 0, and so on.
    public int Refusals { get; private set; }

    public TimeSpan FirstRefusal { get; set; }

    public int Failures { get; private set; }

    public TimeSpan FirstFailure { get; set; }

    public TimeSpan? FullSince { get; set; }

    public TimeSpan? ReplacedSince { get; set; }

    public TimeSpan? LeftAt { get; set; }

    public TimeSpan? SlowSince { get; set; }

    public bool IsSlow { get; set; }

    /// <summary>Smoothed, in milliseconds; zero before the first sample.</summary>
    public double RoundTrip { get; private set; }

    public void Take(ProbeSample sample, TimeSpan now)
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
            case ProbeOutcome.Nothing:
                Smooth(sample.RoundTrip);
                break;
        }
    }

    /// <summary>The agent itself stood still for so long: nobody is blamed for it.</summary>
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
        if (HasAnswered && Refusals == 0) Window.Add(now - LastAnswer);
        if (!HasAnswered || Refusals > 0 || ReplacedSince is not null) AliveSince = now;
        HasAnswered = true;
        LastAnswer = now;
        Refusals = 0;
        ReplacedSince = null;
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
