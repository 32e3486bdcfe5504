using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>What one position holds, or a run of positions that were trimmed without a trace.</summary>
/// <param name="Count">One, but for a run.</param>
/// <param name="Entry">With <see cref="CopiedKind.Tombstone"/> the headers alone.</param>
public readonly record struct CopiedPage(CopiedKind Kind, LogPosition Position, long Count, LogEntry? Entry)
{
    public LogPosition Until => new(Position.Offset + Count);
}
