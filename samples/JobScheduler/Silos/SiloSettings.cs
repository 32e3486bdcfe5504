using System.Text.Json;
using JobScheduler.Cli;
using JobScheduler.Scheduling;
using JobScheduler.Workloads;

namespace JobScheduler.Silos;

/// <summary>Settings of a silo process, on the first line of its input.</summary>
/// <param name="Options">Options of the run: the silo makes the same workload of them.</param>
/// <param name="Cluster">Name of the Orleans cluster: another one for every run.</param>
internal sealed record SiloSettings(
    SchedulerOptions Options, string Run, int TurnLength, string Connection, string Cluster, string Name,
    int SiloPort, int GatewayPort)
{
    public const string Service = "job-scheduler";

    public string ToLine() => JsonSerializer.Serialize(this);

    /// <exception cref="JsonException">The line is something else.</exception>
    public static SiloSettings Parse(string line) =>
        JsonSerializer.Deserialize<SiloSettings>(line) ?? throw new JsonException("The settings are missing.");
}

/// <summary>Work of the replicas of a silo.</summary>
internal sealed record SiloWork(
    string Connection, string Run, int Replicas, Workload Workload, SchedulingLimits Limits);
