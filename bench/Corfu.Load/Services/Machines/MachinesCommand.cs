using System.CommandLine;
using System.Globalization;
using Corfu.Hosting;
using Corfu.Load.Suite;

namespace Corfu.Load;

/// <summary><c>machines</c>: replicated state machines by the number of replicas, and the opening of one.</summary>
internal static class MachinesCommand
{
    /// <summary>Bytes of a command, as in the paper.</summary>
    public const int CommandBytes = 512;

    private static readonly int[] s_replicas = [1, 2, 4, 10];

    public static Command Create() => ServiceCommand.Create(
        "machines", "Replicated state machines: commands by the number of replicas, playback beside a bare cursor.",
        new ServiceSection("commands", "Commands by the number of replicas (TOCS'13, CORFU-SMR)", CommandsAsync),
        new ServiceSection(
            "opening", "A replica that opens, from history and from a snapshot", OpeningSection.RunAsync));

    private static async Task CommandsAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        await using var cluster = await run.Clusters.StartAsync(
            new ClusterShape { Units = 3, Replicas = 2 }, cancellationToken);
        const int window = 512;
        var load = ServicePoints.LoadOf(window, CommandBytes);
        var cases = s_replicas.Select(replicas => ServicePoints.Case(
            NameOf(replicas), WorkloadKind.MachineCommand, window, CommandBytes,
            setting: new WorkloadSetting { Object = $"load-{replicas}" }, processes: replicas) with
        {
            Servers = () => cluster.ProcessorTime().TotalSeconds,
            InQuick = replicas <= 2,
        });
        var points = new ServicePoints(
            await run.MeasureAsync(cluster.ConnectionString, cases, cancellationToken));
        section.Note("Three units, two replicas of each entry. So many processes, each with a replica of one machine: "
            + $"it plays the commands of all. {window} commands in flight, shared out among the processes; each "
            + "caller waits for its command's result. So what is executed is what was injected, and each replica "
            + "executes all of it. \"Generators\" are the replicas' processes.");
        points.AddTo(section);
        foreach (var replicas in s_replicas)
        {
            if (points.Find(NameOf(replicas), load) is { } own)
                section.Sum($"commands_{replicas}", ServicePoints.Rate(own.Rounds));
        }

        foreach (var replicas in s_replicas.Skip(1))
        {
            if (points.Ratio(NameOf(replicas), NameOf(1), load) is { } ratio)
                section.Sum($"commands_{replicas}_of_1", ratio, "0.00");
        }
    }

    private static string NameOf(int replicas) =>
        string.Create(CultureInfo.InvariantCulture, $"{replicas} {(replicas == 1 ? "replica" : "replicas")}");
}
