using Tango.Records;

namespace Tango.Calls;

/// <summary>The entries of this runtime whose callers wait for playback.</summary>
internal interface IOwnEntries
{
    /// <summary>Called by playback for every entry: whether this runtime wrote it, and those who still wait for
    /// it.</summary>
    (bool IsOwn, PendingCall[]? Calls) TakePlayed(EntryHeader header);
}
