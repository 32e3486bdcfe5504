using Tango;

namespace JobScheduler.Objects;

/// <summary>Usage of one user's finished jobs.</summary>
[MessagePackObject]
public readonly record struct UserUsage(
    [property: Key(0)] long Jobs,
    [property: Key(1)] long NodeSeconds);
