namespace Tango.Transactions;

/// <summary>The transaction that flows with the calling code of one runtime.</summary>
internal sealed class TransactionFlow
{
    private readonly AsyncLocal<TangoTransaction?> _current = new();

    /// <summary>A transaction that has ended still flows: using it is an error, not a plain update.</summary>
    public TangoTransaction? Current => _current.Value;

    public void Enter(TangoTransaction transaction) => _current.Value = transaction;

    /// <summary>No transaction flows with the calling method from here on.</summary>
    public void Leave() => _current.Value = null;

    public void Leave(TangoTransaction transaction)
    {
        if (ReferenceEquals(_current.Value, transaction)) _current.Value = null;
    }

    /// <exception cref="TangoTransactionException">A transaction flows with the caller.</exception>
    public void RequireNone()
    {
        if (_current.Value is { IsActive: true })
            throw new TangoTransactionException("Only objects that are open can be used inside a transaction");
    }
}
