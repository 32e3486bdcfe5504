namespace Corfu.Storage;

/// <summary>Sizes of a log of records, in bytes. Page, memory and segment are powers of two.</summary>
/// <param name="Page">The log's in-memory page; no record is larger.</param>
/// <param name="Memory">For what is appended and not yet written; at least 8 pages.</param>
/// <param name="Segment">Size of one file of the log; at least a page.</param>
/// <param name="Reserve">Room that stays on a full disk for the records that must be written even then.</param>
/// <param name="Headroom">The file system counts as full when less than this, or less than a sixteenth of it, is
/// left.</param>
/// <param name="Hot">The newest bytes, kept in memory for readers.</param>
public readonly record struct RecordLogSizes(int Page, long Memory, int Segment, int Reserve, long Headroom, int Hot);
