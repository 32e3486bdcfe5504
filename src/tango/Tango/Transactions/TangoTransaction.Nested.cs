namespace Tango;

/// <summary>
/// A transaction that is begun where one is active joins it: what it reads and writes belongs to the outer one, which
/// alone decides. Its <see cref="EndTxAsync"/> says <see cref="TxOutcome.Joined"/>. One that is disposed without it
/// drops the outer one too.
/// </summary>
public sealed partial class TangoTransaction
{
    // Null: this is the one that decides.
    private readonly TangoTransaction? _outer;

    // Guarded by _gate. Those that joined and have not ended; and whether one of them was dropped.
    private int _joined;
    private bool _isDropped;

    // Guarded by _gate. The strictest of what the transaction and those that joined it asked for.
    private bool _isStale;
    private volatile bool _startsFresh;

    private TangoTransaction(TangoTransaction outer) =>
        (_outer, _given, _playback, _flow) = (outer, outer._given, outer._playback, outer._flow);

    internal TangoTransaction Join(TransactionOptions options)
    {
        lock (_gate)
        {
            RequireUsable(isBusy: false);
            _joined++;
            _isStale &= options.StaleSnapshot;
            _startsFresh |= options.StartFresh;
            _awaitsApplied |= options.AwaitApplied;
        }

        return new TangoTransaction(this);
    }

    private ValueTask<TxOutcome> EndNestedAsync(CancellationToken cancellationToken)
    {
        if (_isEnded) throw new TangoTransactionException("The transaction has ended");
        EndNested(isDropped: cancellationToken.IsCancellationRequested);
        if (cancellationToken.IsCancellationRequested) return ValueTask.FromCanceled<TxOutcome>(cancellationToken);
        Outcome = new TxOutcome.Joined();
        return new ValueTask<TxOutcome>(Outcome);
    }

    private void EndNested(bool isDropped)
    {
        lock (_outer!._gate)
        {
            if (_isEnded) return;
            _isEnded = true;
            _outer._joined--;
            _outer._isDropped |= isDropped;
        }
    }

    /// <summary>A conflict comes first: it may be why the inner one was dropped, and another attempt may go
    /// well.</summary>
    private TxOutcome FindConflictOrThrow() => FindConflict() ?? throw new TangoTransactionException(
        "A transaction that joined this one was disposed without EndTxAsync, or has not ended: nothing took effect");
}
