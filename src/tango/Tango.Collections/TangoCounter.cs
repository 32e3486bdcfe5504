namespace Tango.Collections;

/// <summary>A replicated 64-bit number, zero at first.</summary>
[TangoObject("tango.counter")]
public sealed partial class TangoCounter : TangoObject
{
    private long _value;

    /// <summary>
    /// Adds without reading: transactions that only add never conflict with each other. No caller would hear of an
    /// overflow, so the value stops at <see cref="long.MaxValue"/> or <see cref="long.MinValue"/>.
    /// </summary>
    [Mutator(1)]
    public partial ValueTask AddAsync(long amount, CancellationToken cancellationToken = default);

    /// <summary>Adds and returns the new value, which no other caller gets when all add the same positive
    /// amount.</summary>
    /// <exception cref="TangoRejectedException">The value would overflow; it is unchanged.</exception>
    [Mutator(2, MayReject = true)]
    public partial ValueTask<long> IncrementAsync(long amount = 1, CancellationToken cancellationToken = default);

    [Mutator(3)]
    public partial ValueTask SetAsync(long value, CancellationToken cancellationToken = default);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<long> ReadAsync(CancellationToken cancellationToken = default);

    private void ApplyAdd(long amount) =>
        _value = (long)Int128.Clamp((Int128)_value + amount, long.MinValue, long.MaxValue);

    private long ApplyIncrement(long amount)
    {
        Int128 sum = (Int128)_value + amount;
        if (sum < long.MinValue || sum > long.MaxValue) throw Reject("the counter would overflow");
        return _value = (long)sum;
    }

    private void ApplySet(long value) => _value = value;

    private long ReadRead() => _value;
}
