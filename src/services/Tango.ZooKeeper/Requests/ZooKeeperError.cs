namespace Tango.ZooKeeper;

/// <summary>ZooKeeper's error codes that the tree gives.</summary>
public enum ZooKeeperError
{
    Ok = 0,

    /// <summary>The record had no effect: the tree has not begun, or the record contradicts its state.</summary>
    SystemError = -1,

    /// <summary>In a multi, behind the request that failed.</summary>
    RuntimeInconsistency = -2,

    Unimplemented = -6,

    /// <summary>Nothing was done, and the request may be sent again: its path was mounted meanwhile, or a multi across
    /// partitions met other writes of the same nodes each time.</summary>
    OperationTimeout = -7,

    BadArguments = -8,
    NoNode = -101,
    NoAuth = -102,
    BadVersion = -103,
    NoChildrenForEphemerals = -108,
    NodeExists = -110,
    NotEmpty = -111,
    SessionExpired = -112,
    InvalidAcl = -114,

    /// <summary>The session has attached to another front end since. No client is sent it: its connection is
    /// closed.</summary>
    SessionMoved = -118,

    QuotaExceeded = -125,
}
