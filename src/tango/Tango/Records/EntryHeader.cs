namespace Tango.Records;

internal readonly record struct EntryHeader(ulong Runtime, long Sequence, int Records);
