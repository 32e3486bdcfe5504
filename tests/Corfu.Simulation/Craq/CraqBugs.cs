using Corfu.Simulation.Kernel.Seeds;

namespace Corfu.Simulation.Craq;

/// <summary>The planted bugs of the object store and the checker that must find each.</summary>
internal static class CraqBugs
{
    public static IReadOnlyList<PlantedBug> All { get; } = new CraqBug[]
    {
        new("inherits-as-committed", "C5", "what a new tail holds counts as committed before its epoch opens",
            CheckerNames.ObjectLinear, 41),
        new("stale-tail", "C6", "a strong read at the tail asks no other member", CheckerNames.ObjectLinear, 127),
    };
}
