using Corfu.Protocol;

namespace Corfu.Simulation.Workload;

/// <summary>The log cannot be reached for a while, is full, or denies the append: the entry is not in it.</summary>
internal static class LogRefusal
{
    public static bool Is(Exception e) =>
        e is LogUnavailableException or CorfuDeniedException or CorfuStatusException { Status: Status.NoSpace };
}
