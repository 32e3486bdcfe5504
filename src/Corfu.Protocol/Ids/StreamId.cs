using System.Globalization;

namespace Corfu.Protocol;

/// <summary>Names a stream: a tagged sub-sequence of the log (Tango 4). Ids below 256 are reserved for the
/// system.</summary>
public readonly record struct StreamId(ulong Value) : IComparable<StreamId>
{
    public const ulong FirstUserValue = 256;

    public int CompareTo(StreamId other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
