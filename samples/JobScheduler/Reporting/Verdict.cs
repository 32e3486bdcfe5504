namespace JobScheduler.Reporting;

/// <summary>Findings of <see cref="Verifier"/>. All counts are of jobs unless named otherwise.</summary>
/// <param name="Jobs">Jobs of the workload.</param>
/// <param name="Done">Finished jobs of the workload.</param>
/// <param name="Lost">Jobs of the workload that were never finished.</param>
/// <param name="Duplicate">Executions beyond the first of a job.</param>
/// <param name="Overcommitted">Jobs that were given a node which another job held, or nodes that the machine or the job
/// does not have.</param>
/// <param name="FreeNodes">Free in the pool at the end.</param>
/// <param name="Faults">Readable, one sentence each; empty when all is well.</param>
/// <param name="ScheduleMatches">Every job started when the plain scheduler starts it.</param>
public sealed record Verdict(
    int Jobs, int Done, int Lost, long Duplicate, int Overcommitted, int FreeNodes, bool ScheduleMatches,
    IReadOnlyList<string> Faults)
{
    public bool Ok => Faults.Count == 0;
}
