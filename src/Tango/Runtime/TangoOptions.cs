namespace Tango;

/// <summary>Limits of one runtime. None of them influences what playback decides: those parameters are records in the
/// log.</summary>
public sealed record TangoOptions
{
    /// <summary>Calls waiting to be sent; more are refused with <see cref="TangoBusyException"/>.</summary>
    public int MaxQueuedCalls { get; init; } = 100_000;

    /// <summary>Entries being appended at once. With 1, callers that come while an append is in flight share the next
    /// entry.</summary>
    public int MaxAppendsInFlight { get; init; } = 1;

    public int MaxBatchRecords { get; init; } = 256;

    /// <summary>In bytes. A larger record is sent alone.</summary>
    public int MaxBatchBytes { get; init; } = 64 * 1024;

    /// <summary>Streams of one batch; a transaction with more is sent alone.</summary>
    public int MaxBatchStreams { get; init; } = 32;

    /// <summary>How often an append's unknown outcome is looked up before its callers are told it is in
    /// doubt.</summary>
    public int MaxResolveAttempts { get; init; } = 3;

    /// <summary>How often playing up to an own record is tried before its caller is told it is in doubt.</summary>
    public int MaxPlaybackAttempts { get; init; } = 8;

    /// <summary>First pause between such attempts; it doubles, with jitter.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(1);

    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// How long a commit record may be without its decision record before a host of its read set publishes one (R20);
    /// after twice that, a runtime that is blocked by it plays the read set itself.
    /// </summary>
    public TimeSpan OrphanTimeout { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Entries applied before readers and waiting callers see the result.</summary>
    public int PublishEvery { get; init; } = 128;

    /// <summary>
    /// Keys whose versions an object keeps (R18), recorded in the directory when the object is created and fixed from
    /// then on. A transaction whose snapshot is older than the oldest version kept aborts.
    /// </summary>
    public int NewObjectVersionCapacity { get; init; } = 65_536;

    /// <summary>Types of objects that may be opened because a member of their group is (R20); those opened by type need
    /// not be listed.</summary>
    public TangoTypeRegistry Types { get; init; } = new();
}
