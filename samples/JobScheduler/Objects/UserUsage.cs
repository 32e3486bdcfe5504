using Tango;

namespace JobScheduler.Objects;

/// <summary>What one user's finished jobs have used.</summary>
[TangoValue]
public readonly record struct UserUsage(
    [property: TangoMember(0)] long Jobs,
    [property: TangoMember(1)] long NodeSeconds);
