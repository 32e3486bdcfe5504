using Tango;
using Tango.ZooKeeper;

namespace Corfu.ZooKeeper.Serving;

/// <summary>Partitions as a front end plays them. Guarded by the gate.</summary>
internal interface IPlayedPartitions
{
    Lock Gate { get; }

    /// <summary>State of the root partition. Null: the tree is not observed yet, or not any more.</summary>
    TreeRoot? Root { get; }

    /// <summary>State of a partition, by mount; null where it is not played.</summary>
    TreeRoot? RootOf(string mount);

    /// <summary>An observer of the partitions that are played from now on: it takes the place of the one
    /// before.</summary>
    IApplyObserver NewObserver();

    /// <summary>Serves again, within the same lease, what had stopped for a mount.</summary>
    void Resume();
}
