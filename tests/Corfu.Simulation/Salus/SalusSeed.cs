using Corfu.Simulation.Runner;

namespace Corfu.Simulation.Salus;

/// <summary>Runs one seed of the block store in this process, with output for people.</summary>
internal static class SalusSeed
{
    public static int Run(ulong seed, bool trace, TextWriter output)
    {
        var plan = SalusPlan.Of(seed);
        output.WriteLine($"plan: {plan}");
        return SingleSeed.Show(SalusRun.Run(plan, trace ? output.WriteLine : null), output);
    }
}
