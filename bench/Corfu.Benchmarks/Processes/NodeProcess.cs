using System.Diagnostics;
using System.Globalization;
using Corfu.Hosting;

namespace Corfu.Benchmarks;

/// <summary>A node of the cluster under a benchmark, as <c>corfu node</c>. It ends with the benchmark's process, which
/// may be killed.</summary>
internal static class NodeProcess
{
    public const string Name = "node";

    public static async Task<int> RunAsync(string parent, string config)
    {
        using var ended = new CancellationTokenSource();
        using var process = Find(int.Parse(parent, CultureInfo.InvariantCulture));
        if (process is null) return 1;
        var watch = WatchAsync(process, ended);
        try
        {
            return await NodeRunner.RunAsync(config, Console.Out, ended.Token);
        }
        catch (NodeStartException e)
        {
            await Console.Error.WriteLineAsync(e.Message);
            return 1;
        }
        finally
        {
            await ended.CancelAsync();
            await watch;
        }
    }

    private static Process? Find(int id)
    {
        try
        {
            return Process.GetProcessById(id);
        }
        catch (ArgumentException)
        {
            return null;
        }
    }

    private static async Task WatchAsync(Process process, CancellationTokenSource ended)
    {
        try
        {
            await process.WaitForExitAsync(ended.Token);
            await ended.CancelAsync();
        }
        catch (OperationCanceledException)
        {
            // The node has ended before.
        }
    }
}
