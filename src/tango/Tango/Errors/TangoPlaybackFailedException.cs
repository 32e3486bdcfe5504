using Corfu;

namespace Tango;

/// <summary>
/// The process could not go on while a record was applied: it has no memory or no stack left. That is no fault of the
/// object, and how much of the record was applied is not known. This runtime plays nothing any more, and calls that
/// were sent are in doubt; a new process goes on. If it happens while an object is opened, only the opening ends.
/// </summary>
public sealed class TangoPlaybackFailedException(LogPosition position, Exception innerException)
    : TangoException($"Playback has ended in the entry at {position}: {innerException.Message}", innerException)
{
    /// <summary>The entry that was being applied.</summary>
    public LogPosition Position { get; } = position;

    internal static bool IsReason(Exception error) =>
        error is OutOfMemoryException or InsufficientExecutionStackException;
}
