namespace Corfu.Load;

/// <summary>The extent of a run of <c>craq</c>.</summary>
/// <param name="Seconds">Length of one measurement.</param>
/// <param name="Size">Bytes of a value, where a section has no sizes of its own.</param>
/// <param name="Sections">In the order of the report.</param>
internal sealed record CraqPlan(int Rounds, double Seconds, int Size, IReadOnlyList<string> Sections)
{
    public const string Reads = "reads";
    public const string Writes = "writes";
    public const string Relay = "relay";
    public const string Dirty = "dirty";
    public const string Transactions = "transactions";
    public const string Failover = "failover";
    public const string Peers = "peers";

    /// <summary>Operations at once, where nothing else is said.</summary>
    public const int Window = 64;

    /// <summary>Load generators; each has one connection to each node.</summary>
    public const int Processes = 2;

    public static string[] All { get; } = [Reads, Writes, Relay, Dirty, Transactions, Failover, Peers];

    public static CraqPlan Of(int rounds, double seconds, int size, IReadOnlyCollection<string> only) =>
        new(rounds, seconds, size, [.. All.Where(name => only.Count == 0 || only.Contains(name))]);
}
