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
            var targets = new Dictionary<(WorkloadKind, string), IWorkload>();
            while (await Console.In.ReadLineAsync(cancellationToken) is { } line)
            {
                var order = JsonSerializer.Deserialize(line, LoadJson.Default.WorkerOrder)!;
                var report = await RunAsync(targets, order);
                await Console.Out.WriteLineAsync(JsonSerializer.Serialize(report, LoadJson.Default.WorkerReport));
            }

            foreach (var target in targets.Values) await target.DisposeAsync();
            return 0;
        });
        return command;
    }

    private static async Task<WorkerReport> RunAsync(Dictionary<(WorkloadKind, string), IWorkload> targets,
        WorkerOrder order)
    {
        try
        {
            if (!targets.TryGetValue((order.Kind, order.Target), out var workload))
                targets.Add((order.Kind, order.Target), workload = await Workloads.OpenAsync(order.Kind, order.Target));
            var operation = workload.Prepare(order.Callers, order.Size);
            var (histogram, seconds, failures) = await ClosedLoop.RunAsync(order.Callers,
                TimeSpan.FromSeconds(order.Seconds), operation);
            return new WorkerReport(histogram.ToSparse(), seconds, failures);
        }
        catch (Exception e) when (e is CorfuException or IOException or Tango.TangoException)
        {
            return new WorkerReport([], 0, 0, e.Message);
        }
    }
}
