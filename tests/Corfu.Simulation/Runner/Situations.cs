namespace Corfu.Simulation.Runner;

/// <summary>
/// The protocol's named situations. A run of <see cref="EnoughSeeds"/> seeds or more fails when it misses one: a simulator that no longer
/// gets there proves nothing about it. The others of a run's coverage line are told, not required.
/// </summary>
public static class Situations
{
    public const int EnoughSeeds = 200;

    public static readonly string[] Required =
    [
        "append lost to a fill",
        "append resolved as not appended",
        "append unknown",
        "capacity changed",
        "connecting failed",
        "entry completed by another",
        "entry copied to a joining replica",
        "fill sent",
        "joining replica became full",
        "operation given up",
        "position granted again in a later epoch",
        "rebuild met a hole",
        "reconfiguration failed",
        "removed unit came back",
        "seal raced with install",
        "segment opened",
        "segments merged",
        "stream handed over",
        "stream reader met a trim",
        "token crossed an epoch",
        "transaction Aborted",
        "transaction Committed",
        "two reconfigurers proposed",
        "unit replaced",
    ];
}
