using Corfu.Simulation.Kernel;
using Corfu.Simulation.Runner;
using Corfu.Simulation.Workload;

namespace Corfu.ModelCheck.Traces;

/// <summary>Replays runs of the simulator through the model's processes, and tells about them.</summary>
public static class TraceReport
{
    /// <param name="planted">A bug of the product to switch on; null: none.</param>
    public static int Run(int count, ulong start, string? planted, TextWriter output)
    {
        if (!PlantedSwitch.Turn(planted))
        {
            output.WriteLine("A product without planted bugs: build with -p:Planted=true.");
            return 2;
        }

        var (refused, steps) = (0, 0L);
        for (var seed = start; seed < start + (ulong)count; seed++)
        {
            var check = new TraceCheck();
            SeedRunner.Run(SeedPlan.Of(seed), null, prepare: check.Follow);
            steps += check.Steps;
            if (check.Refusal is null) continue;
            refused++;
            output.WriteLine($"seed {seed} step {check.Steps}: {check.Refusal}");
            output.Flush();
        }

        output.WriteLine($"steps={steps}");
        output.WriteLine($"traces={count} refused={refused}");
        return refused == 0 ? 0 : 1;
    }
}
