using Tango;

namespace JobScheduler.Objects;

/// <summary>What one user's finished jobs have used.</summary>
[MessagePackObject]
public readonly record struct UserUsage(
    [property: Key(0)] long Jobs,
    [property: Key(1)] long NodeSeconds);
