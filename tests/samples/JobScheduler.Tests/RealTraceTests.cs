using JobScheduler.Reference;
using JobScheduler.Workloads;

namespace JobScheduler.Tests;

public sealed class RealTraceTests
{
    [Fact]
    public void The_trace_has_18239_jobs_on_128_nodes()
    {
        Workload workload = RealTrace.Read();
        Assert.Equal(18_239, workload.Jobs.Count);
        Assert.Equal(128, workload.Nodes);
        Assert.Equal(new Job(1, 0, 1451, 128, 1), workload.Jobs[0]);
    }

    [Theory]
    [InlineData(1, 11)]
    [InlineData(1.5, 15_960)]
    public void The_known_number_of_jobs_waits(double compress, int waiting)
    {
        Workload workload = RealTrace.Read().Compress(compress);
        Assert.Equal(waiting, ReferenceScheduler.Run(workload).Count(entry => entry.WaitSeconds > 0));
    }
}
