namespace Tango;

/// <summary>Figures of an object that a runtime hosts, at one moment.</summary>
/// <param name="Name">The name by which it was opened.</param>
/// <param name="Updates">Calls that were applied to it since its playback began here; it only grows while the object
/// stays hosted.</param>
/// <param name="CheckpointBytes">Size of the newest checkpoint of its cohort that was made or loaded here; 0: none
/// was.</param>
/// <param name="IsStopped">Whether the view has ended: Apply failed, a record cannot be read here, or the object was
/// deleted.</param>
public sealed record ObjectFigures(string Name, string TypeName, long Updates, long CheckpointBytes, bool IsStopped)
{
    /// <summary>Nothing from here on is trimmed, for the object and its group; null where the runtime does not know
    /// it.</summary>
    public LogPosition? TrimClaim { get; init; }
}
