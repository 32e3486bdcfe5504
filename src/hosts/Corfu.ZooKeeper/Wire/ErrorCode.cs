namespace Corfu.ZooKeeper.Wire;

/// <summary>
/// ZooKeeper's codes that clients are sent, with the names of <see cref="ZooKeeperError"/>. No other code is sent:
/// kazoo's connection ends at a code that it does not know.
/// </summary>
internal enum ErrorCode
{
    Ok = 0,
    SystemError = -1,
    RuntimeInconsistency = -2,

    /// <summary>The body of a request is malformed. The connection stays.</summary>
    MarshallingError = -5,

    Unimplemented = -6,
    BadArguments = -8,
    NoNode = -101,
    NoAuth = -102,
    BadVersion = -103,
    NoChildrenForEphemerals = -108,
    NodeExists = -110,
    NotEmpty = -111,
    SessionExpired = -112,
    InvalidAcl = -114,
    AuthFailed = -115,

    /// <summary>A write, or a sync, while the front end only reads.</summary>
    NotReadOnly = -119,

    NoWatcher = -121,
    QuotaExceeded = -125,
}
