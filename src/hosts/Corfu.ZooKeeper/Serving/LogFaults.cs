namespace Corfu.ZooKeeper.Serving;

/// <summary>Exceptions by which the log, or the runtime over it, refuses a call.</summary>
internal static class LogFaults
{
    public static bool IsFault(Exception error) =>
        error is CorfuException or TangoException or ObjectDisposedException;
}
