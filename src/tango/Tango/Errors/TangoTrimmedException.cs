using Corfu;

namespace Tango;

/// <summary>
/// History that was not yet played here has been trimmed, and no checkpoint that this code can load covers it. A
/// runtime that still has the object open can write one
/// (<see cref="RuntimeCheckpoints.WriteAsync(TangoObject, System.Threading.CancellationToken)"/>): the next call starts
/// from it, with the same handles. Else a backup has the history.
/// </summary>
// Trimmed history is never skipped: a checkpoint covers it, or the call fails (R22).
public sealed class TangoTrimmedException : TangoException
{
    public TangoTrimmedException(Exception innerException)
        : base("History that was not yet played has been trimmed, and no checkpoint of it can be loaded. "
            + "Checkpoint the object where it is still open, and try again, or restore a backup", innerException)
    {
    }

    /// <summary>A past position was asked for.</summary>
    internal TangoTrimmedException(string message, LogPosition? oldest, Exception? innerException)
        : base(message, innerException) => Oldest = oldest;

    /// <summary>The object's first state is in checkpoints only.</summary>
    internal static TangoTrimmedException OfFork(DirectoryEntry entry, LogPosition? notAbove)
    {
        var origin = entry.Origin!;
        var wanted = notAbove is { } end ? $" of {end.Offset} or below" : "";
        return new TangoTrimmedException(
            $"'{entry.Name}' was forked from '{origin.Source}' as of {origin.Position.Offset}, and begins with a "
            + $"checkpoint of {entry.Created.Offset}. No checkpoint{wanted} can be loaded. Checkpoint it where it is "
            + "still open, and try again, fork it anew, or restore a backup", null, null);
    }

    /// <summary>The oldest position that can be opened, if one was looked for and found.</summary>
    public LogPosition? Oldest { get; }
}
