namespace Tango.Collections;

/// <summary>A replicated value: the register of Tango 3.1, Figure 3. It starts as <c>default</c>.</summary>
/// <typeparam name="T">Best an immutable type: then readers share the instance in the view; else each gets a
/// copy.</typeparam>
[TangoObject("tango.register")]
public sealed partial class TangoRegister<T> : TangoObject
{
    private T? _value;

    /// <summary>Durable in the log when it completes. Concurrent writes are ordered by the log; the last one
    /// stays.</summary>
    [Mutator(1)]
    public partial ValueTask WriteAsync(T? value, CancellationToken cancellationToken = default);

    /// <summary>Writes, and returns the value before.</summary>
    [Mutator(2)]
    public partial ValueTask<T?> ExchangeAsync(T? value, CancellationToken cancellationToken = default);

    /// <summary>
    /// Writes only if the register holds <paramref name="expected"/>, by the type's own Equals; true if it did. Arrays
    /// and collections are compared by their contents.
    /// </summary>
    public ValueTask<bool> CompareAndSetAsync(T? value, T? expected, CancellationToken cancellationToken = default) =>
        StoredEquality<T?>.IsNeeded
            ? CompareStoredAndSetAsync(value, expected, cancellationToken)
            : CompareEqualAndSetAsync(value, expected, cancellationToken);

    // Records of 3 keep the meaning that they had when they were written: arrays and collections never matched.
    [Mutator(3)]
    private partial ValueTask<bool> CompareEqualAndSetAsync(T? value, T? expected,
        CancellationToken cancellationToken);

    [Mutator(4)]
    private partial ValueTask<bool> CompareStoredAndSetAsync(T? value, T? expected,
        CancellationToken cancellationToken);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<T?> ReadAsync(CancellationToken cancellationToken = default);

    private void ApplyWrite(T? value) => _value = value;

    private T? ApplyExchange(T? value)
    {
        T? before = _value;
        _value = value;
        return before;
    }

    private bool ApplyCompareEqualAndSet(T? value, T? expected) =>
        Replace(value, expected, EqualityComparer<T?>.Default);

    private bool ApplyCompareStoredAndSet(T? value, T? expected) =>
        Replace(value, expected, StoredEquality<T?>.Comparer);

    private bool Replace(T? value, T? expected, IEqualityComparer<T?> comparer)
    {
        if (!comparer.Equals(_value, expected)) return false;
        _value = value;
        return true;
    }

    private T? ReadRead() => _value;
}
