using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>What a read found. <see cref="Entry"/> is there for data and junk, and for a page trimmed on its own as headers only (its tombstone).</summary>
public readonly record struct LogReadResult(LogPosition Position, PageState State, LogEntry? Entry)
{
    public bool IsData => State == PageState.Data;
}
