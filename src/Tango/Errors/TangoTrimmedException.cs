namespace Tango;

/// <summary>
/// History that was not yet played here has been trimmed, and no checkpoint that this code can load covers it (R22).
/// Opened in a new runtime, the object starts from its newest checkpoint. If there is none, a runtime that still has
/// the object open can write one (<see cref="TangoRuntime.CheckpointAsync"/>), or a backup has the history.
/// </summary>
public sealed class TangoTrimmedException(Exception innerException)
    : TangoException("History that was not yet played has been trimmed, and no checkpoint of it can be loaded. Open "
        + "the object in a new runtime, checkpoint it where it is still open, or restore a backup", innerException);
