namespace Tango.ZooKeeper;

internal sealed partial class WorkingTree
{
    /// <summary>Makes a node as another service has it. A new one is no create that its parent counts: the counter
    /// comes with the parent, which has counted it there.</summary>
    public ZooKeeperError Import(ImportedNode given)
    {
        if (!given.IsValid || given.Path is NodePath.Service or NodePath.Quota or NodePath.Config)
            return ZooKeeperError.BadArguments;
        if (!Mounts.IsHere(given.Path)) return ZooKeeperError.OperationTimeout;
        var acl = _parts.Acls.Share(new AclList(given.Acl));
        if (Find(given.Path) is { } own) return Overwrite(own, given, acl);
        if (Find(NodePath.ParentOf(given.Path)!) is not { } parent) return ZooKeeperError.NoNode;
        if (NodeOwner.IsSession(parent.Owner)) return ZooKeeperError.NoChildrenForEphemerals;
        if (!MayMeasureFor(given.Path)) return ZooKeeperError.QuotaExceeded;

        var node = new ZNode(given.Path, given.Data, acl, NodeOwner.None, new NodeCounters(
            Zxid, Zxid, Zxid, given.Ctime, given.Mtime, given.Version, given.Creates, given.Aversion));
        _parts.Nodes = _parts.Nodes.Set(parent.WithImportedChild(given.Path, Zxid, _parts.Seed)).Set(node);
        _parts.DataBytes += given.Path.Length + node.DataLength;
        Tell(TreeChangeKind.Created, given.Path, acl);
        Tell(TreeChangeKind.ChildrenChanged, parent.Path, parent.Acl);
        CountAdded(node);
        return ZooKeeperError.Ok;
    }

    // Containers and nodes with a time to live stay what they are: no client can see of another service's nodes that
    // they are some.
    private ZooKeeperError Overwrite(ZNode own, ImportedNode given, AclList acl)
    {
        // A session ends the node, whatever was imported.
        if (NodeOwner.IsSession(own.Owner)) return ZooKeeperError.NodeExists;
        var isWritten = (own.Version, own.Mtime, own.Data is null) != (given.Version, given.Mtime, given.Data is null)
            || !own.RawData.AsSpan().SequenceEqual(given.Data);
        // The next sequential name must be new here too. The counters wrap.
        var creates = unchecked(given.Creates - own.Creates) > 0 ? given.Creates : own.Creates;
        var written = new ZNode(own.Path, given.Data, acl, own.Owner, new NodeCounters(
            own.Czxid, isWritten ? Zxid : own.Mzxid, own.Pzxid, given.Ctime, given.Mtime, given.Version, creates,
            given.Aversion));
        written.LoadChildren(own.Children);
        _parts.Nodes = _parts.Nodes.Set(written);
        _parts.DataBytes += written.DataLength - own.DataLength;
        if (isWritten) Tell(TreeChangeKind.DataChanged, own.Path, acl);
        CountWritten(written, written.DataLength - own.DataLength);
        return ZooKeeperError.Ok;
    }
}
