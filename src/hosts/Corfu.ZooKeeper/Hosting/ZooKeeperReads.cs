namespace Corfu.ZooKeeper.Hosting;

/// <summary>How new the state is that clients read.</summary>
public enum ZooKeeperReads
{
    /// <summary>A read shows all earlier writes of its client, and never an older state than the client has seen.
    /// Changes of others are seen some milliseconds later, or behind a <c>sync</c>. No read asks the log.</summary>
    Session,

    /// <summary>A read shows every write that any client was answered before it. Reads wait for the log, those that
    /// have come together for one answer.</summary>
    Linearizable,
}
