using Tango.Playback;

namespace Tango.Records;

/// <summary>Why a read is no longer valid, and the write that made it so.</summary>
internal sealed record VersionConflict(AbortReason Reason, RecordVersion Version);
