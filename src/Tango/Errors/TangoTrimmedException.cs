using Corfu.Protocol;

namespace Tango;

/// <summary>
/// History that was not yet played here has been trimmed, and no checkpoint that this code can load covers it (R22). A
/// runtime that still has the object open can write one
/// (<see cref="TangoRuntime.CheckpointAsync(TangoObject, System.Threading.CancellationToken)"/>): the next call starts
/// from it, with the same handles. Else a backup has the history.
/// </summary>
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

    /// <summary>The oldest position that can be opened, if one was looked for and found.</summary>
    public LogPosition? Oldest { get; }
}
