namespace Tango;

/// <summary>How a transaction begins and ends.</summary>
public sealed record TransactionOptions
{
    public static readonly TransactionOptions Default = new();

    /// <summary>
    /// A transaction without writes reads and commits on what this runtime has played, without asking the log (Tango
    /// 3.2): consistent, but perhaps stale. Updates of this runtime itself that it has not played are missing too. For
    /// a snapshot at a position of the caller's choice see <c>RuntimeHistory.OpenAsync</c>.
    /// </summary>
    public bool StaleSnapshot { get; init; }

    /// <summary>
    /// Bring the views up to the log's tail before the first read: one round trip more, fewer aborts where other
    /// runtimes write the same objects. Otherwise the snapshot is what this runtime has played, including everything it
    /// was itself told is done.
    /// </summary>
    public bool StartFresh { get; init; }

    /// <summary>
    /// The transaction does not flow with the code: only calls of handles from
    /// <see cref="TangoTransaction.Use{T}"/> belong to it, wherever they are made. It may be begun in one method and
    /// ended in another.
    /// </summary>
    public bool Explicit { get; init; }

    /// <summary>
    /// A transaction that the sequencer decides ends when its writes are applied here, as far as their objects are
    /// hosted, and tells how many of them were refused. Otherwise it ends once its record is in the log, with
    /// <see cref="TxOutcome.Committed.RejectedWrites"/> 0. One that playback decides does so in any case.
    /// </summary>
    public bool AwaitApplied { get; init; }

    /// <summary>Attempts of the retry helper; then it throws <see cref="TangoAbortedException"/>. The default is 20: a
    /// key that loses as often is too hot, and the exception names it.</summary>
    public int MaxAttempts { get; init; } = 20;
}
