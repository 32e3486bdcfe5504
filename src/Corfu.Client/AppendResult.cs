using Corfu.Protocol;

namespace Corfu.Client;

/// <param name="Position">Where the entry stands or, with <see cref="AppendOutcome.Unknown"/>, would stand; with the epoch of the grant.</param>
/// <param name="Origin">The entry's writer and sequence: what <see cref="ICorfuLog.ResolveAsync"/> looks for.</param>
public readonly record struct AppendResult(AppendOutcome Outcome, LogPosition Position, EntryOrigin Origin)
{
    public bool IsAppended => Outcome == AppendOutcome.Appended;

    /// <summary>The position, or <see cref="AppendUnknownException"/> for callers that treat the third outcome as an error.</summary>
    public LogPosition Require() => IsAppended ? Position : throw new AppendUnknownException(this);
}
