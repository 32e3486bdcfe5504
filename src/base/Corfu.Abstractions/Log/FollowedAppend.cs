namespace Corfu;

/// <summary>The result of <see cref="ICorfuLog.AppendFollowedAsync"/>.</summary>
/// <param name="Placed">Null: the entry is not known to be in the log, or the log tells no more of it.</param>
public readonly record struct FollowedAppend(AppendResult Result, AppendedEntry? Placed);

/// <summary>An entry of the caller's in the log, and what a player of its streams needs to play up to it: neither the
/// tail has to be asked for nor the entry to be read.</summary>
/// <param name="Entry">As a read returns it. An append returned it, so that it is committed (R11).</param>
/// <param name="Check">
/// Invariant: one answer of the sequencer of the entry's epoch, given with the grant. Its tail is right behind the
/// entry, and below it nothing of its streams was granted in this epoch but what the streams' tails lead to (R7). No
/// later epoch grants anything there either: every replica had the entry before it was sealed, and a later epoch starts
/// above (R13). What an earlier epoch left open below, the cursor learns as from any other check (R10).
/// </param>
public sealed record AppendedEntry(LogEntry Entry, LogCheck Check);
