namespace Tango;

/// <summary>
/// The update was sent but its outcome could not be learnt: it may take effect, now or later, or never. It is not
/// retried silently. <see cref="TangoRuntime.ResolveAsync"/> finds out what became of a transaction, and
/// <see cref="TangoRuntime.ResolveUpdateAsync"/> where an update stands.
/// </summary>
public sealed class TangoInDoubtException(string message, Exception? innerException = null)
    : TangoException(message, innerException)
{
    internal TangoInDoubtException(TxOutcome.InDoubt outcome)
        : this(outcome.Position is { } position
            ? $"It is not known whether the transaction took effect, at {position}: {outcome.Message}"
            : $"It is not known whether the transaction took effect: {outcome.Message}") => Outcome = outcome;

    /// <summary>Outcome of a transaction; null for an update.</summary>
    public TxOutcome.InDoubt? Outcome { get; }

    /// <summary>The update that was sent; null: a transaction, or an update without a place of its own.</summary>
    internal object? Update { get; init; }
}
