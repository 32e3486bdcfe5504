using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Corfu.Hosting;

namespace Corfu.Load;

/// <summary><c>idle</c>: what the processes of a cluster use while no client does anything.</summary>
internal static class IdleCommand
{
    public static Command Create()
    {
        var nodes = new Option<int[]>("--nodes")
        {
            Description = "Processes of each cluster.",
            DefaultValueFactory = _ => [6, 30]
        };
        var settle = new Option<double>("--settle")
        {
            Description = "Seconds from the start of the last process to the measurement.",
            DefaultValueFactory = _ => 30
        };
        var seconds = new Option<double>("--seconds") { DefaultValueFactory = _ => 30 };
        var directory = new Option<DirectoryInfo?>("--dir", "-d");
        var command = new Command("idle", "Processor use of idle clusters of several sizes.") { nodes, settle, seconds,
            directory };
        command.SetAction(async (result, cancellationToken) =>
        {
            foreach (var count in result.GetRequiredValue(nodes))
            {
                using var folder = new WorkFolder(result.GetValue(directory));
                var used = await MeasureAsync(
                    Path.Combine(folder.Path, "cluster"), count, TimeSpan.FromSeconds(result.GetValue(settle)),
                    TimeSpan.FromSeconds(result.GetValue(seconds)), cancellationToken);
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                    $"idle: {count} processes, {used:0.0} % of a core, {used / count:0.00} % each"));
            }

            Console.WriteLine($"{RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
            return 0;
        });
        return command;
    }

    private static async Task<double> MeasureAsync(string folder, int count, TimeSpan settle, TimeSpan time,
        CancellationToken cancellationToken)
    {
        // Half of the processes are units, and each kind is there.
        var units = Math.Max(3, count / 2);
        var sequencers = Math.Clamp((count - units) / 2, 1, 8);
        var shape = new ClusterShape
        {
            Units = units,
            Replicas = 2,
            Sequencers = sequencers,
            Spares = Math.Max(0, count - units - sequencers)
        };
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        var state = await processes.UpAsync(folder, shape, cancellationToken);
        try
        {
            await Task.Delay(settle, cancellationToken);
            List<Process> running = [.. state.Nodes.Select(node => node.ProcessId).OfType<int>().Distinct()
                .Select(Process.GetProcessById)];
            var began = Stopwatch.GetTimestamp();
            var before = running.Sum(Used);
            await Task.Delay(time, cancellationToken);
            foreach (var process in running) process.Refresh();
            return (running.Sum(Used) - before) / Stopwatch.GetElapsedTime(began).TotalMilliseconds * 100;
        }
        finally
        {
            await processes.DownAsync(folder, CancellationToken.None);
        }

        static double Used(Process process) => process.TotalProcessorTime.TotalMilliseconds;
    }
}
