using Corfu;

namespace Tango;

/// <summary>A record's place in the order of everything: its entry's position and its index in the entry, since one
/// entry holds several.</summary>
public readonly record struct RecordVersion(LogPosition Position, int Index) : IComparable<RecordVersion>
{
    public int CompareTo(RecordVersion other)
    {
        var byPosition = Position.CompareTo(other.Position);
        return byPosition != 0 ? byPosition : Index.CompareTo(other.Index);
    }

    public override string ToString() => $"{Position}.{Index}";
}
