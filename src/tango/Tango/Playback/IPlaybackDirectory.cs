using Corfu;

namespace Tango.Playback;

/// <summary>The directory as one playback asks it. An answer knows every object that was created below the position at
/// which the playback stands.</summary>
internal interface IPlaybackDirectory
{
    /// <summary>The longest way of a spill to its commit record (R19): the log's, once it has objects.</summary>
    long MaxSpan { get; }

    /// <summary>For how many positions versions are kept (R18): the log's, once it has objects.</summary>
    long VersionAge { get; }

    /// <summary>The entries of an object's group, or of the object alone; empty if the id is unknown.</summary>
    ValueTask<IReadOnlyList<DirectoryEntry>> FindGroupAsync(ObjectId id, CancellationToken cancellationToken);

    /// <summary>Whether the object is known to be deleted below the position.</summary>
    bool IsDeletedBefore(ObjectId id, LogPosition position);
}
