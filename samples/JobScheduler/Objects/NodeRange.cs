using Tango;

namespace JobScheduler.Objects;

/// <summary>Neighbouring nodes: <see cref="First"/> and the <see cref="Count"/> - 1 after it.</summary>
[TangoValue]
public readonly record struct NodeRange(
    [property: TangoMember(0)] int First,
    [property: TangoMember(1)] int Count);
