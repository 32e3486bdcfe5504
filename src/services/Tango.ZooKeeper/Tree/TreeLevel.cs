namespace Tango.ZooKeeper;

/// <summary>The meaning of records, fixed under a level: a changed meaning is a higher level.</summary>
public static class TreeLevel
{
    public const int First = 1;

    /// <summary>Partitions. A mount raises a service to it.</summary>
    public const int Partitions = 2;

    /// <summary>The highest that this code knows.</summary>
    public const int Newest = Partitions;

    /// <exception cref="TangoFormatException">This code does not know the level: the tree ends here (R23).</exception>
    internal static int Require(int level) => level <= Newest
        ? level
        : throw new TangoFormatException($"The tree has level {level}, and this code knows levels up to {Newest}");
}
