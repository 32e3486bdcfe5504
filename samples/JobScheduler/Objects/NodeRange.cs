using Tango;

namespace JobScheduler.Objects;

/// <summary>Neighbouring nodes: <see cref="First"/> and the <see cref="Count"/> - 1 after it.</summary>
[MessagePackObject]
public readonly record struct NodeRange(
    [property: Key(0)] int First,
    [property: Key(1)] int Count);
