namespace Tango.ZooKeeper;

/// <summary>A line of an access control list. As a client sends it, the scheme or the id may be null.</summary>
/// <param name="Permissions">Also bits that ZooKeeper does not define are kept.</param>
public readonly record struct AclEntry(Permissions Permissions, string? Scheme, string? Id)
{
    internal bool IsWorld => Scheme == "world" && Id == "anyone";
}
