namespace Tango.Collections;

/// <summary>An item of a <see cref="TangoWorkQueue{T}"/> that this process works on, until it is completed, disposed or
/// <see cref="Lost"/>.</summary>
public sealed class Delivery<T> : IAsyncDisposable
{
    private readonly Taken<T> _taken;
    private TangoLease _lease = null!;

    internal Delivery(Taken<T> taken) => _taken = taken;

    public T Value => _taken.Value;

    /// <summary>The item's number within its queue.</summary>
    public long Item => _taken.Item;

    /// <summary>Fencing token of this delivery; higher than that of every earlier delivery of the queue.</summary>
    public long Token => _taken.Token;

    /// <summary>1 at the first delivery of the item.</summary>
    public int Attempt => _taken.Attempt;

    /// <inheritdoc cref="TangoLease.Lost"/>
    public CancellationToken Lost => _lease.Lost;

    /// <inheritdoc cref="TangoLease.IsHeld"/>
    public bool IsHeld => _lease.IsHeld;

    /// <summary>The queue knows that it is over: nothing is left to be told.</summary>
    internal bool IsOver { get; private set; }

    /// <summary>Ends the delivery. An item that is not completed is delivered again.</summary>
    public ValueTask DisposeAsync() => _lease.DisposeAsync();

    /// <summary>Stops the renewals. The item is delivered again after the time to live, unless another process renews
    /// the delivery by its numbers:
    /// <see cref="TangoWorkQueue{T}.RenewAsync(long, long, CancellationToken)"/>.</summary>
    public ValueTask LetGoAsync() => _lease.LetGoAsync();

    internal void Keep(TangoLease lease) => _lease = lease;

    /// <summary>The consumer ended it: it is not lost.</summary>
    internal void Finish()
    {
        IsOver = true;
        _lease.Settle();
    }
}
