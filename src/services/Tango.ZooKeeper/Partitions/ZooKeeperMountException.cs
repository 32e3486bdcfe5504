namespace Tango.ZooKeeper;

/// <summary>A path cannot be mounted. Nothing was changed.</summary>
public sealed class ZooKeeperMountException(string message) : TangoException(message);
