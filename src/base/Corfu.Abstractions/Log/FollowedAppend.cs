namespace Corfu;

/// <summary>The result of <see cref="ICorfuLog.AppendFollowedAsync"/>.</summary>
/// <param name="Placed">Null: the entry is not known to be in the log, or the log tells no more of it.</param>
public readonly record struct FollowedAppend(AppendResult Result, AppendedEntry? Placed);

/// <summary>The result of <see cref="ICorfuLog.AppendDecidedAsync"/>.</summary>
/// <param name="Ruling">Null: nothing was decided. The sequencer's silence is no ruling.</param>
/// <param name="Append">Null: every record is refused, or no payload was made; nothing is in the log. NotAppended: the
/// position was lost, and the ruling with it.</param>
public readonly record struct DecidedAppend(Ruling? Ruling, FollowedAppend? Append);

/// <summary>An entry of the caller's in the log, and what a player of its streams needs to play up to it: neither the
/// tail has to be asked for nor the entry to be read.</summary>
/// <param name="Entry">As a read returns it. It is committed, since an append returned it.</param>
/// <param name="Check">The sequencer's answer as it granted the position: its tail is right behind the entry.</param>
// Invariant: the check is one answer of the sequencer of the entry's epoch. Below its tail nothing of its streams was
// granted in this epoch but what the streams' tails lead to (R7). No later epoch grants anything there either: every
// replica had the entry before it was sealed (R11), and a later epoch starts above (R13). What an earlier epoch left
// open below, the cursor learns as from any other check (R10).
public sealed record AppendedEntry(LogEntry Entry, LogCheck Check);
