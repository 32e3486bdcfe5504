namespace Tango.ZooKeeper;

/// <summary>Permissions that an entry of an access control list gives; ZooKeeper's bits.</summary>
[Flags]
public enum Permissions
{
    None = 0,
    Read = 1,
    Write = 2,
    Create = 4,
    Delete = 8,
    Admin = 16,
    All = Read | Write | Create | Delete | Admin,
}
