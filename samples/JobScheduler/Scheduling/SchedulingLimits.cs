namespace JobScheduler.Scheduling;

/// <summary>Sizes of batches and turns. They influence speed and fairness only, never the schedule.</summary>
public sealed record SchedulingLimits
{
    /// <summary>Jobs submitted by one transaction.</summary>
    public int SubmitBatch { get; init; } = 128;

    /// <summary>Submit when fewer jobs are pending.</summary>
    public int PendingLowWater { get; init; } = 32;

    /// <summary>Jobs started by one transaction, if they start at the same virtual instant.</summary>
    public int StartBatch { get; init; } = 16;

    /// <summary>Jobs finished by one transaction, unless a start needs the nodes of more.</summary>
    public int FinishBatch { get; init; } = 16;

    /// <summary>Ended jobs that a replica lets come together before it finishes them beside its own starts.</summary>
    public int FinishesBesideStarts { get; init; } = 4;

    /// <summary>Starts after which the turn passes to the next replica.</summary>
    public int TurnLength { get; init; } = 64;

    /// <summary>How long a replica that has nothing to do waits before it looks at the log again.</summary>
    public TimeSpan PollInterval { get; init; } = TimeSpan.FromMilliseconds(5);

    /// <summary>The same shortly before its turn comes, so that the turn passes without a pause.</summary>
    public TimeSpan PollIntervalBeforeTurn { get; init; } = TimeSpan.FromMilliseconds(1);

    /// <summary>How many starts before its turn a replica begins to look often.</summary>
    public int StartsBeforeTurn { get; init; } = 8;

    /// <summary>After this long without any progress the next replica takes the turn over; the one after it waits twice
    /// as long.</summary>
    public TimeSpan StallTimeout { get; init; } = TimeSpan.FromMilliseconds(250);
}
