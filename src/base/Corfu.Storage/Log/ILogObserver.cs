namespace Corfu.Storage;

/// <summary>Called from the log's own thread: handlers are short and never append.</summary>
public interface ILogObserver
{
    /// <summary>The records between the two addresses have become durable.</summary>
    void OnCommitted(long from, long until);

    /// <summary>A fatal error, reported once: a failed write or sync is never retried, the log is dead until the
    /// process restarts.</summary>
    void OnFailed(StoreFailedException error);
}
