namespace Tango;

/// <summary>A transaction's outcome and, if it committed, what its body returned.</summary>
public readonly record struct TxResult<T>(TxOutcome Outcome, T? Value)
{
    public bool IsCommitted => Outcome.IsCommitted;

    /// <inheritdoc cref="TxOutcome.ThrowIfNotCommitted"/>
    /// <returns>Result of the body.</returns>
    public T ThrowIfNotCommitted()
    {
        Outcome.ThrowIfNotCommitted();
        return Value!;
    }
}
