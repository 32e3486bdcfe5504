namespace Tango;

/// <summary>
/// What may be written into a log (R23). A level is raised by an operator, once every client runs code that knows it;
/// older code that meets a higher level stops.
/// </summary>
internal static class FeatureLevel
{
    /// <summary>Updates, transactions and groups: logs that were never raised.</summary>
    public const int First = 1;

    /// <summary>Checkpoints, the trim point and its claims, deletion.</summary>
    public const int Checkpoints = 2;

    /// <summary>Transactions above one entry (R19).</summary>
    public const int Spills = 2;

    /// <summary>Forks of objects: ids that are reserved, and objects whose history begins with a checkpoint.</summary>
    public const int Forks = 3;

    /// <summary>Objects whose state has values in the log (<see cref="ITangoIndex"/>): their checkpoints claim
    /// these.</summary>
    public const int Indexes = 3;

    /// <summary>Objects that get another name.</summary>
    public const int Renames = 4;

    /// <summary>Members that are added to groups.</summary>
    public const int GrowingGroups = 4;

    /// <summary>The highest that this code reads and writes.</summary>
    public const int Newest = GrowingGroups;
}
