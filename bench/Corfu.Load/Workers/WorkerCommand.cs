using System.CommandLine;
using System.Text.Json;
using Corfu.Protocol;

namespace Corfu.Load;

/// <summary>The inside of a load generator process: an order a line, until the input ends.</summary>
internal static class WorkerCommand
{
    public const string Name = "worker";

    public static Command Create()
    {
        var command = new Command(Name, "A load generator process; started by the other commands.") { Hidden = true };
        command.SetAction(async (_, cancellationToken) =>
        {
            // Connections live from round to round.
            var targets = new Dictionary<(WorkloadKind, string, WorkloadSetting), IWorkload>();
            await using var sessions = new Sessions();
            while (await Console.In.ReadLineAsync(cancellationToken) is { } line)
            {
                var order = JsonSerializer.Deserialize(line, LoadJson.Default.WorkerOrder)!;
                var report = await RunAsync(targets, sessions, order);
                await Console.Out.WriteLineAsync(JsonSerializer.Serialize(report, LoadJson.Default.WorkerReport));
            }

            foreach (var target in targets.Values) await target.DisposeAsync();
            return 0;
        });
        return command;
    }

    private static async Task<WorkerReport> RunAsync(
        Dictionary<(WorkloadKind, string, WorkloadSetting), IWorkload> targets, Sessions sessions, WorkerOrder order)
    {
        try
        {
            var key = (order.Kind, order.Target, order.Setting);
            if (!targets.TryGetValue(key, out var workload))
            {
                workload = await Workloads.OpenAsync(order.Kind, order.Target, order.Setting, sessions);
                targets.Add(key, workload);
            }

            var operation = workload.Prepare(order.Callers, order.Size);
            workload.TakeAborted();
            var (histogram, seconds, failures) = await ClosedLoop.RunAsync(order.Callers,
                TimeSpan.FromSeconds(order.Seconds), operation, order.PerSecond);
            return new WorkerReport(histogram.Encode(), seconds, failures, workload.TakeAborted());
        }
        catch (Exception e) when (e is CorfuException or IOException or Tango.TangoException)
        {
            return new WorkerReport("", 0, 0, 0, e.Message);
        }
    }
}
