namespace Tango;

/// <summary>Objects that belong together, opened at once; see <see cref="TangoContextAttribute"/>. Its members can be
/// used concurrently. It ends with its runtime.</summary>
public abstract class TangoContext
{
    /// <summary>Called by generated code.</summary>
    protected TangoContext(TangoContextBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        (Runtime, Name) = (builder.Runtime, builder.Name);
    }

    public TangoRuntime Runtime { get; }

    /// <summary>The name it was opened by: the first part of its objects' names.</summary>
    public string Name { get; }

    /// <inheritdoc cref="TangoRuntime.BeginTx"/>
    public TangoTransaction BeginTx(TransactionOptions? options = null) => Runtime.BeginTx(options);

    /// <inheritdoc cref="TangoRuntime.RunTransactionAsync(Func{TangoTransaction, ValueTask}, TransactionOptions,
    /// CancellationToken)"/>
    public ValueTask<TxOutcome> RunTransactionAsync(
        Func<TangoTransaction, ValueTask> body, TransactionOptions? options = null,
        CancellationToken cancellationToken = default) =>
        Runtime.RunTransactionAsync(body, options, cancellationToken);

    /// <inheritdoc cref="TangoRuntime.RunTransactionAsync{T}"/>
    public ValueTask<TxResult<T>> RunTransactionAsync<T>(
        Func<TangoTransaction, ValueTask<T>> body, TransactionOptions? options = null,
        CancellationToken cancellationToken = default) =>
        Runtime.RunTransactionAsync(body, options, cancellationToken);

    /// <inheritdoc cref="TangoRuntime.SyncAsync"/>
    public ValueTask SyncAsync(CancellationToken cancellationToken = default) => Runtime.SyncAsync(cancellationToken);
}
