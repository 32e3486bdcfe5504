namespace Tango.ZooKeeper;

/// <summary>Numbers that ZooKeeper tells of a node, under ZooKeeper's names.</summary>
/// <param name="Czxid">Zxid of the create.</param>
/// <param name="Mzxid">Zxid of the newest data.</param>
/// <param name="Pzxid">Zxid of the newest create or delete of a child.</param>
/// <param name="Ctime">Time of the create, in ms since 1970 by the clock of its front end.</param>
/// <param name="Mtime">Time of the newest data; never before the create.</param>
/// <param name="Version">Counts changes of the data.</param>
/// <param name="Cversion">Counts creates and deletes of children.</param>
/// <param name="Aversion">Counts changes of the access control list.</param>
/// <param name="EphemeralOwner">The session that owns the node; 0 for others.</param>
public readonly record struct NodeStat(
    long Czxid, long Mzxid, long Pzxid, long Ctime, long Mtime, int Version, int Cversion, int Aversion,
    long EphemeralOwner, int DataLength, int ChildCount)
{
    /// <summary>How many nodes were created below: the next sequential name has this number. Right until half of the
    /// counter's range is used.</summary>
    public int Creates => (int)((uint)unchecked(Cversion + ChildCount) >> 1);
}
