using JobScheduler.Cli;
using JobScheduler.Workloads.Model;

namespace JobScheduler.Workloads;

/// <summary>The jobs that the command line asks for.</summary>
public static class WorkloadSource
{
    /// <exception cref="TraceFormatException">The trace cannot be used.</exception>
    public static Workload Load(SchedulerOptions options)
    {
        Workload workload = options.Trace is { } trace
            ? SwfReader.Read(trace, options.Nodes)
            : LoadCalibration.Apply(LublinFeitelsonModel.Generate(options.Jobs, options.Nodes, options.Seed));
        return workload.Compress(options.Compress);
    }
}
