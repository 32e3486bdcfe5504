using System.Collections.Immutable;

namespace Tango.Collections.Tests.Recorded;

// What a user's program stores. Names and members are in the recorded log: they never change.
public enum Colour : byte
{
    None = 0,
    Red = 200,
}

public enum Depth : short
{
    Trench = -11000,
    Sea = 0,
}

public enum Stars : ulong
{
    One = 1,
    Many = ulong.MaxValue,
}

[TangoValue]
public sealed record Place(string City, int Number, Colour? Colour);

[TangoValue]
public readonly record struct Point(long X, long Y);

[TangoValue]
public sealed record Pair<T>(T Left, T Right);

[TangoValue]
public sealed record Tree(int Value, ImmutableArray<Tree> Children);

/// <summary>Member 1 was removed.</summary>
[TangoValue(Reserved = [1])]
public sealed class Ticket
{
    [TangoMember(0)]
    public long Id { get; init; }

    [TangoMember(2)]
    public string? Owner { get; init; }

    [TangoMember(3)]
    public Place? Where { get; init; }
}
