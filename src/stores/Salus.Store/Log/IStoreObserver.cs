namespace Salus.Store.Log;

/// <summary>Called from the log's own thread: handlers are short and never append.</summary>
public interface IStoreObserver
{
    /// <summary>Everything that was appended up to there is durable. Never falls.</summary>
    void OnDurable(long lsn);

    /// <summary>A fatal error, reported once: a failed write or sync is never retried.</summary>
    void OnFailed(StoreFailedException error);
}
