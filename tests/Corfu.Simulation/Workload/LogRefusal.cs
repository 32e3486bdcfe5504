using Corfu.Protocol;

namespace Corfu.Simulation.Workload;

/// <summary>The log cannot be reached for a while, or is full: the entry that was to be appended is not in
/// it.</summary>
internal static class LogRefusal
{
    public static bool Is(Exception e) =>
        e is LogUnavailableException or CorfuStatusException { Status: Status.NoSpace };
}
