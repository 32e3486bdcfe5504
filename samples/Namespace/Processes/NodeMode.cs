using System.Diagnostics;
using Corfu.Hosting;

namespace NamespaceSample.Processes;

/// <summary>A node of the cluster: it ends with the process that it was started for, also if that is killed.</summary>
internal static class NodeMode
{
    public const string Name = "node";

    public static async Task<int> RunAsync(int parent, string config, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task watch = WatchAsync(parent, stop);
        int result = await NodeRunner.RunAsync(config, Console.Out, stop.Token);
        await stop.CancelAsync();
        await watch;
        return result;
    }

    private static async Task WatchAsync(int parent, CancellationTokenSource stop)
    {
        try
        {
            using var process = Process.GetProcessById(parent);
            await process.WaitForExitAsync(stop.Token);
            await stop.CancelAsync();
        }
        catch (ArgumentException)
        {
            await stop.CancelAsync();
        }
        catch (OperationCanceledException)
        {
            // The node ends first.
        }
    }
}
