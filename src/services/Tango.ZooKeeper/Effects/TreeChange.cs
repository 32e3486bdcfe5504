namespace Tango.ZooKeeper;

/// <summary>A change that watches may wait for. Changes stand in the order of their events.</summary>
/// <param name="Acl">The node's, as it was written or deleted; of changed children the parent's. Only a caller with
/// <see cref="Permissions.Read"/> on it may hear of the change.</param>
public readonly record struct TreeChange(TreeChangeKind Kind, string Path, AclList Acl);

/// <summary>Event of the node of a path.</summary>
public enum TreeChangeKind
{
    Created = 1,
    Deleted = 2,
    DataChanged = 3,
    ChildrenChanged = 4,
}
