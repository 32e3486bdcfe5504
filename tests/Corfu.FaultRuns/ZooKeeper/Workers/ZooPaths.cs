namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Nodes that the sessions use, and what stands in them.</summary>
public static class ZooPaths
{
    /// <summary>A node for each worker, to which it writes rising numbers without waiting.</summary>
    public const string Fifo = "/fifo";

    /// <summary>Nodes that many sessions set, each by the version that it has read.</summary>
    public const string Counters = "/counters";

    public const string Locks = "/locks";

    /// <summary>Nodes that only the holder of a lock writes.</summary>
    public const string Guarded = "/guarded";

    public const string Queues = "/queues";

    public const string Watched = "/watched";

    /// <summary>Nodes that come and go.</summary>
    public const string Flickering = "/flickering";

    public const string Ephemerals = "/ephemerals";

    /// <summary>Text of a counter before its first set.</summary>
    public const string FirstCount = "start -";

    public const int EachKind = 3;

    public static string At(string parent, int place) => $"{parent}/{place}";

    public static string ParentOf(string path) =>
        path[..path.LastIndexOf('/')] is { Length: > 0 } parent ? parent : "/";

    public static string NameOf(string path) => path[(path.LastIndexOf('/') + 1)..];

    /// <summary>Number behind the name of a sequential node.</summary>
    public static int SequenceOf(string name) => int.Parse(name[^10..]);
}
