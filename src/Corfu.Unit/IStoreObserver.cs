namespace Corfu.Unit;

/// <summary>Hears about the progress of a store, from the store's own thread: handlers must be short and never call
/// back into the store's append.</summary>
internal interface IStoreObserver
{
    /// <summary>Everything up to the log sequence number is durable. Never falls.</summary>
    void OnDurable(long lsn);

    /// <summary>A fatal error, reported once: a failed write or fsync is never retried, the store is dead until the
    /// process restarts.</summary>
    void OnFailed(Exception error);
}
