using Corfu;

namespace Tango.Testing;

/// <summary>Limits and fault hooks of an <see cref="InMemoryCorfuLog"/>.</summary>
public sealed record InMemoryLogOptions
{
    /// <summary>Largest payload in bytes; the default is the real log's.</summary>
    public int MaxPayload { get; init; } = EntryLimits.DefaultMaxPayload;

    /// <summary>
    /// Asked once per granted position; must be safe for concurrent use if the log is used concurrently.
    /// </summary>
    public Func<AppendFault> NextAppendFault { get; init; } = static () => AppendFault.None;

    /// <summary>
    /// Awaited before an append takes its position and again after it is written: a place for delays and for tests to
    /// stop time.
    /// </summary>
    public Func<CancellationToken, ValueTask>? AroundAppend { get; init; }

    /// <summary>Awaited before a check answers.</summary>
    public Func<CancellationToken, ValueTask>? BeforeCheck { get; init; }

    /// <summary>
    /// Whether calls complete on another turn of the scheduler, as with a real log. False completes them synchronously,
    /// which is simpler to step through, but lets one caller do the work of others.
    /// </summary>
    public bool Yield { get; init; } = true;

    /// <summary>Whether appends that declare their reads and writes are decided, as by a sequencer; false: nothing
    /// is.</summary>
    public bool Decide { get; init; } = true;

    /// <summary>Whether appends tell the stream headers that were written; false: as a log over gRPC.</summary>
    public bool TellHeaders { get; init; } = true;

    public TimeProvider Time { get; init; } = TimeProvider.System;
}

/// <summary>Fault of one append to an <see cref="InMemoryCorfuLog"/>.</summary>
public enum AppendFault
{
    None,

    /// <summary>
    /// The granted position is never written; the append succeeds at a later one. Readers meet a hole.
    /// </summary>
    LeaveHole,

    /// <summary>The entry is written, but its writer is told <see cref="AppendOutcome.Unknown"/>.</summary>
    WrittenButUnknown,

    /// <summary>
    /// The entry is not written, and its writer is told <see cref="AppendOutcome.Unknown"/>. Readers meet a hole.
    /// </summary>
    LostAndUnknown,
}
