using System.Globalization;

namespace Craq;

/// <summary>The number of a write in its chain, and the version of the objects that it wrote: the epoch whose head
/// assigned it, then a counter. Printed <c>e5:17</c>. The default stands before all writes, and is the version of an
/// absent object.</summary>
/// <remarks>Invariant: one version names one write for ever. Within an epoch one head counts, and a head of a later
/// epoch begins above all versions of the earlier ones.</remarks>
public readonly record struct ObjectVersion : IComparable<ObjectVersion>
{
    /// <summary>Bits of the counter; the epoch has the 23 above them.</summary>
    private const int CounterBits = 40;

    /// <summary>The greatest epoch that a version can name.</summary>
    public const long MaxEpoch = (1L << 23) - 1;

    /// <summary>The greatest counter: behind it the head asks for a new epoch.</summary>
    public const long MaxCounter = (1L << CounterBits) - 1;

    public static readonly ObjectVersion None;

    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public ObjectVersion(long value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(value);
        Value = value;
    }

    /// <summary>As it is stored and sent.</summary>
    public long Value { get; }

    /// <summary>The epoch whose head assigned it.</summary>
    public Epoch Epoch => new(Value >> CounterBits);

    public long Counter => Value & MaxCounter;

    public bool IsNone => Value == 0;

    /// <summary>The last version of its epoch has no next one.</summary>
    public bool IsLast => Counter == MaxCounter;

    /// <summary>The first version of an epoch: its Begin record's.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The epoch is none, or above <see cref="MaxEpoch"/>.</exception>
    public static ObjectVersion First(Epoch epoch)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(epoch.Value, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(epoch.Value, MaxEpoch);
        return new ObjectVersion((epoch.Value << CounterBits) | 1);
    }

    /// <summary>The next version of the same epoch.</summary>
    /// <exception cref="InvalidOperationException">The epoch has no further version.</exception>
    public ObjectVersion Next() => IsLast
        ? throw new InvalidOperationException($"{this} is the last version of its epoch.")
        : new ObjectVersion(Value + 1);

    public static ObjectVersion Max(ObjectVersion a, ObjectVersion b) => a >= b ? a : b;

    public static ObjectVersion Min(ObjectVersion a, ObjectVersion b) => a <= b ? a : b;

    public static bool operator <(ObjectVersion a, ObjectVersion b) => a.Value < b.Value;
    public static bool operator >(ObjectVersion a, ObjectVersion b) => a.Value > b.Value;
    public static bool operator <=(ObjectVersion a, ObjectVersion b) => a.Value <= b.Value;
    public static bool operator >=(ObjectVersion a, ObjectVersion b) => a.Value >= b.Value;

    public int CompareTo(ObjectVersion other) => Value.CompareTo(other.Value);

    public override string ToString() =>
        IsNone ? "none" : string.Create(CultureInfo.InvariantCulture, $"{Epoch}:{Counter}");
}
