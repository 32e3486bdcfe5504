namespace Tango;

/// <summary>How a transaction begins and ends.</summary>
public sealed record TransactionOptions
{
    public static readonly TransactionOptions Default = new();

    /// <summary>
    /// A transaction without writes commits on its snapshot without asking the log (Tango 3.2): consistent, but perhaps
    /// stale. For a snapshot at a position of the caller's choice see
    /// <c>TangoRuntime.OpenHistoryAsync</c>.
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

    /// <summary>Attempts of the retry helper; then it throws <see cref="TangoAbortedException"/>.</summary>
    public int MaxAttempts { get; init; } = 1000;
}
