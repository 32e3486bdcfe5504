namespace Corfu.Unit;

/// <summary>The log as it stood when a checkpoint was begun.</summary>
internal sealed record CheckpointStart(LogTail Tail, uint LastCheck, long FirstKept, LogRecord Gaps, IReadOnlyList<SegmentContents> Segments);
