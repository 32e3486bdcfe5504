using Corfu;

namespace Tango;

/// <summary>The place of a change in its object's history: where a feed is resumed. The same for every reader, for
/// ever; keep both numbers.</summary>
/// <param name="Position">Position of the entry.</param>
/// <param name="Index">Index of the call among those of the entry that concern the object, refused ones included. -1:
/// before all of them.</param>
public readonly record struct ChangePlace(LogPosition Position, int Index) : IComparable<ChangePlace>
{
    /// <summary>Everything below the position precedes it.</summary>
    public static ChangePlace Before(LogPosition position) => new(position, -1);

    public int CompareTo(ChangePlace other)
    {
        var byPosition = Position.CompareTo(other.Position);
        return byPosition != 0 ? byPosition : Index.CompareTo(other.Index);
    }

    public override string ToString() => $"{Position}.{Index}";
}
