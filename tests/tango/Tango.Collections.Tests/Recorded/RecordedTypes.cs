using System.Collections.Immutable;

namespace Tango.Collections.Tests.Recorded;

// Types that a user's program stores. Names and members are in the recorded log: they never change.
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

[MessagePackObject]
public sealed record Place(
    [property: Key(0)] string City,
    [property: Key(1)] int Number,
    [property: Key(2)] Colour? Colour);

[MessagePackObject]
public readonly record struct Point([property: Key(0)] long X, [property: Key(1)] long Y);

[MessagePackObject]
public sealed record Pair<T>([property: Key(0)] T Left, [property: Key(1)] T Right);

[MessagePackObject]
public sealed record Tree([property: Key(0)] int Value, [property: Key(1)] ImmutableArray<Tree> Children);

/// <summary>Member 1 was removed.</summary>
[MessagePackObject]
public sealed class Ticket
{
    [Key(0)]
    public long Id { get; init; }

    [Key(2)]
    public string? Owner { get; init; }

    [Key(3)]
    public Place? Where { get; init; }
}
