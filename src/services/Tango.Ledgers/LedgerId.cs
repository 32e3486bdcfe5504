using System.Globalization;

namespace Tango.Ledgers;

/// <summary>Names a ledger of a store. A deleted ledger's id is given again only to a caller that asks for
/// it.</summary>
public readonly record struct LedgerId : IComparable<LedgerId>
{
    public LedgerId(long value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(value);
        Value = value;
    }

    /// <summary>Not negative.</summary>
    public long Value { get; }

    public int CompareTo(LedgerId other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
