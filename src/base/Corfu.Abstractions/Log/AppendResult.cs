namespace Corfu;

/// <param name="Position">The entry's position, with the epoch of the grant. With <see cref="AppendOutcome.Unknown"/>,
/// the position that was granted for it.</param>
/// <param name="Origin">The entry's writer and sequence: what <see cref="ICorfuLog.ResolveAsync"/> looks for.</param>
public readonly record struct AppendResult(AppendOutcome Outcome, LogPosition Position, EntryOrigin Origin)
{
    public bool IsAppended => Outcome == AppendOutcome.Appended;

    /// <summary>The position, or an exception for callers that treat the third outcome as an error.</summary>
    public LogPosition Require() => IsAppended ? Position : throw new AppendUnknownException(this);
}

/// <summary>The outcome of an append.</summary>
public enum AppendOutcome
{
    /// <summary>In the log, durable at every replica of its chain.</summary>
    Appended,

    /// <summary>Not resolved: it may be, or become, part of the log. No component retries it silently.</summary>
    Unknown,

    /// <summary>Never part of the log. Only <see cref="ICorfuLog.ResolveAsync"/> returns it: appends retry.</summary>
    NotAppended,
}

/// <summary>Thrown by <see cref="AppendResult.Require"/>.</summary>
public sealed class AppendUnknownException(AppendResult result)
    : CorfuException($"The outcome of the append at {result.Position} by {result.Origin} is unknown.")
{
    public AppendResult Result { get; } = result;
}
