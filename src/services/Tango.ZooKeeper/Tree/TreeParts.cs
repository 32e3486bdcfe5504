using NodeMap = Tango.ZooKeeper.HashTrie<string, Tango.ZooKeeper.ZNode, Tango.ZooKeeper.NodeKeys>;
using PathSet = Tango.ZooKeeper.HashTrie<string, string, Tango.ZooKeeper.PathKeys>;

namespace Tango.ZooKeeper;

/// <summary>The parts of a <see cref="TreeRoot"/>, which are persistent themselves: a copy costs nothing.</summary>
/// <param name="Seed">Makes the hashes of paths another service's.</param>
/// <param name="Reapable">Paths of container and TTL nodes.</param>
/// <param name="Acls">No part of the state.</param>
internal record struct TreeParts(
    ulong Seed, int Level, TreeSettings Settings, long LastZxid, NodeMap Nodes, long DataBytes,
    SessionTable Sessions, FrontEndTable FrontEnds, PathSet Reapable, QuotaTable Quotas, AclCache Acls,
    MountTable Mounts)
{
    /// <summary>Parts of a tree without nodes.</summary>
    public static TreeParts Empty(ulong seed) => new(
        seed, Level: 0, new TreeSettings(), LastZxid: 0, new NodeMap(seed), DataBytes: 0, new SessionTable(seed),
        FrontEndTable.Empty, new PathSet(seed), QuotaTable.Empty, new AclCache(),
        MountTable.None);
}
