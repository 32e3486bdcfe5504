using Corfu;

namespace Tango;

public sealed partial class TangoRuntime
{
    // Each attempt writes all spills again, and takes as long as the one before.
    private const int MaxSpilledTooEarly = 2;

    /// <summary>
    /// Runs the body in a transaction and tries again, after a growing pause, while it aborts. Never repeats one that
    /// is in doubt. The body may run several times and should have no effects besides the objects. An exception of the
    /// body drops the transaction and is passed on if what the body had read is still true; if not, it counts as an
    /// abort.
    /// </summary>
    /// <remarks>Within an active transaction the body runs once and joins it: the outer one decides, and tries again.
    /// An exception of the body drops the outer one.</remarks>
    /// <returns>Committed, InDoubt or Joined.</returns>
    /// <exception cref="TangoAbortedException">The transaction aborted <see cref="TransactionOptions.MaxAttempts"/>
    /// times, or twice as <see cref="AbortReason.SpilledTooEarly"/>.</exception>
    public async ValueTask<TxOutcome> RunTransactionAsync(
        Func<TangoTransaction, ValueTask> body, TransactionOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        options ??= TransactionOptions.Default;
        if (Current is { IsActive: true }) return await JoinAsync(body, options, cancellationToken);
        var spilledTooEarly = 0;
        for (var attempt = 1; ; attempt++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var (outcome, spilling) = await TryOnceAsync(body, options, cancellationToken);
            if (outcome is not TxOutcome.Aborted aborted) return outcome;
            if (aborted.Reason == AbortReason.SpilledTooEarly && ++spilledTooEarly >= MaxSpilledTooEarly)
                throw TangoAbortedException.OfSpan(aborted, spilledTooEarly, MaxSpan, spilling);
            if (attempt >= options.MaxAttempts) throw new TangoAbortedException(aborted, attempt);
            var pause = BackOff.After(attempt, _options.RetryDelay, _options.MaxRetryDelay, _entropy, jitter: 1);
            await Task.Delay(pause, _time, cancellationToken);
            // An early abort has appended nothing, and nothing may have been played since: without this, the next
            // attempt would read the same.
            if (Player.Published.End <= aborted.ConflictingWrite.Position)
            {
                var cohort = LastDirectoryView.GroupOf(aborted.ObjectId);
                // An object that was hosted for the attempt may have left.
                await Player.PlayToAsync(
                    aborted.ConflictingWrite.Position.Next, cancellationToken,
                    () => cohort.Count > 0 && IsHosted(cohort[0].Id));
            }
        }
    }

    /// <summary>As the other overload, with the value that the committed attempt computed, or the one that
    /// joined.</summary>
    public async ValueTask<TxResult<T>> RunTransactionAsync<T>(
        Func<TangoTransaction, ValueTask<T>> body, TransactionOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        T? value = default;
        var outcome = await RunTransactionAsync(
            async transaction => { value = await body(transaction); }, options, cancellationToken);
        return new TxResult<T>(outcome, outcome is TxOutcome.Committed or TxOutcome.Joined ? value : default);
    }

    private async ValueTask<TxOutcome> JoinAsync(
        Func<TangoTransaction, ValueTask> body, TransactionOptions options, CancellationToken cancellationToken)
    {
        await using var transaction = BeginTx(options);
        await body(transaction);
        return await EndAsync(transaction, cancellationToken);
    }

    private static async ValueTask<TxOutcome> EndAsync(
        TangoTransaction transaction, CancellationToken cancellationToken) =>
        transaction.IsActive
            ? await transaction.EndTxAsync(cancellationToken)
            : transaction.Outcome ?? throw new TangoTransactionException("The transaction was disposed by its body");

    /// <returns>The outcome, and how long it took to spill the writes and to append the commit record.</returns>
    private async ValueTask<(TxOutcome Outcome, TimeSpan Spilling)> TryOnceAsync(
        Func<TangoTransaction, ValueTask> body, TransactionOptions options, CancellationToken cancellationToken)
    {
        await using var transaction = BeginTx(options);
        try
        {
            await body(transaction);
        }
        catch (Exception e)
            when (transaction.IsActive && e is not (TangoTransactionException or OperationCanceledException))
        {
            if (await transaction.FindConflictNowAsync(cancellationToken) is not { } conflict) throw;
            return (conflict, TimeSpan.Zero);
        }

        var outcome = await EndAsync(transaction, cancellationToken);
        return (outcome, transaction.Spilling);
    }
}
