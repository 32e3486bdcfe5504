using Corfu;
using Tango.Runtime;

namespace Tango.Transactions;

/// <summary>Begins transactions, and repeats those that abort.</summary>
internal sealed class TransactionRunner(
    RuntimeEnvironment given, PlaybackParts playback, TransactionFlow flow, CancellationToken lifetime)
{
    // Each attempt writes all spills again, and takes as long as the one before.
    private const int MaxSpilledTooEarly = 2;

    /// <summary>The transaction that flows with the calling code.</summary>
    public TransactionFlow Flow => flow;

    /// <inheritdoc cref="TangoRuntime.BeginTx"/>
    public TangoTransaction Begin(TransactionOptions? options)
    {
        RuntimeLifetime.ThrowIfEnded(lifetime);
        options ??= TransactionOptions.Default;
        if (flow.Current is { IsActive: true } outer) return outer.Join(options);
        var transaction = new TangoTransaction(given, playback, flow, options);
        if (!options.Explicit) flow.Enter(transaction);
        return transaction;
    }

    public async ValueTask<TxOutcome> RunAsync(
        Func<TangoTransaction, ValueTask> body, TransactionOptions? options, CancellationToken cancellationToken)
    {
        options ??= TransactionOptions.Default;
        if (flow.Current is { IsActive: true }) return await JoinAsync(body, options, cancellationToken);
        var spilledTooEarly = 0;
        for (var attempt = 1; ; attempt++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var (outcome, spilling) = await TryOnceAsync(body, options, cancellationToken);
            if (outcome is not TxOutcome.Aborted aborted) return outcome;
            if (aborted.Reason == AbortReason.SpilledTooEarly && ++spilledTooEarly >= MaxSpilledTooEarly)
                throw TangoAbortedException.OfSpan(aborted, spilledTooEarly, playback.Directory.MaxSpan, spilling);
            if (attempt >= options.MaxAttempts) throw new TangoAbortedException(aborted, attempt);
            var pause = BackOff.After(
                attempt, given.Options.RetryDelay, given.Options.MaxRetryDelay, given.Entropy, jitter: 1);
            await Task.Delay(pause, given.Time, cancellationToken);
            // An early abort has appended nothing, and nothing may have been played since: without this, the next
            // attempt would read the same.
            if (playback.Player.Published.End <= aborted.ConflictingWrite.Position)
            {
                var cohort = playback.Directory.LastPublished.GroupOf(aborted.ObjectId);
                // An object that was hosted for the attempt may have left.
                await playback.Player.PlayToAsync(
                    aborted.ConflictingWrite.Position.Next, cancellationToken,
                    () => cohort.Count > 0 && playback.Hosted.IsOpen(cohort[0].Id));
            }
        }
    }

    public async ValueTask<TxResult<T>> RunAsync<T>(
        Func<TangoTransaction, ValueTask<T>> body, TransactionOptions? options, CancellationToken cancellationToken)
    {
        T? value = default;
        var outcome = await RunAsync(
            async transaction => { value = await body(transaction); }, options, cancellationToken);
        return new TxResult<T>(outcome, outcome is TxOutcome.Committed or TxOutcome.Joined ? value : default);
    }

    private async ValueTask<TxOutcome> JoinAsync(
        Func<TangoTransaction, ValueTask> body, TransactionOptions options, CancellationToken cancellationToken)
    {
        await using var transaction = Begin(options);
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
        await using var transaction = Begin(options);
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
