namespace Corfu.Store.State;

/// <summary>The place of a value in the log.</summary>
/// <param name="Record">Number of the index's call in the entry. -1: an entry of values alone.</param>
/// <param name="Item">Number of the value in the call or in the entry.</param>
internal readonly record struct ValuePlace(long Position, int Record, int Item, int Length)
    : IComparable<ValuePlace>
{
    public const int NoRecord = -1;

    public bool IsInCall => Record != NoRecord;

    public LogPlace Call => new(new LogPosition(Position), Record, 0);

    public int CompareTo(ValuePlace other) =>
        (Position, Record, Item).CompareTo((other.Position, other.Record, other.Item));
}
