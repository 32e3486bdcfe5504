namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>Names of what holds for every simulation, whatever runs in it.</summary>
public static class KernelCheckers
{
    public const string Determinism = "determinism";
    public const string Unhandled = "unhandled";
}
