using Corfu.Simulation.Runner;

namespace Corfu.Simulation.Craq;

/// <summary>Runs one seed of the object store in this process, with output for people.</summary>
internal static class CraqSeed
{
    public static int Run(ulong seed, bool trace, TextWriter output)
    {
        var plan = CraqPlan.Of(seed);
        output.WriteLine($"plan: {plan}");
        return SingleSeed.Show(CraqRun.Run(plan, trace ? output.WriteLine : null), output);
    }
}
