using Corfu.Simulation.Cluster;

namespace Corfu.Simulation.Workload;

/// <summary>
/// The program that all clients of a run execute: opens a client, lets its workers draw from a mix of workloads, and
/// audits what they did.
/// </summary>
internal interface IClientProgram
{
    /// <summary>Runs one process of a client, until the operations of the plan are done.</summary>
    Task RunAsync(SimClientNode node);

    /// <summary>Lets the workloads settle and check, in a client of its own once faults are healed.</summary>
    /// <param name="scan">Reads the whole log. Called once, when the program writes nothing more.</param>
    Task AuditAsync(SimClientNode node, Func<Task> scan);

    /// <summary>Takes note of an entry that the scan finds. Entries come in log order.</summary>
    void Scanned(LogEntry entry)
    {
    }

    /// <summary>Acts that follow the audit, one after the other.</summary>
    /// <param name="auditor">The client that has made the audit.</param>
    IEnumerable<LastAct> LastActs(SimClientNode auditor) => [];

    /// <summary>Judges the histories.</summary>
    /// <param name="isAudited">Whether the run came as far as the scan.</param>
    IEnumerable<Violation> Verdicts(bool isAudited);
}

/// <param name="What">Named where the act does not finish.</param>
internal sealed record LastAct(string What, SimClientNode Node, Func<Task> Act);
