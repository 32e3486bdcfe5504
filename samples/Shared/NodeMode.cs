using System.CommandLine;
using System.Diagnostics;
using Corfu.Hosting;

namespace SharedSample;

/// <summary>A node of the cluster: it ends with the process that it was started for, also if that is killed.</summary>
public static class NodeMode
{
    internal const string Name = "node";

    /// <summary>The mode in which <see cref="ClusterProcesses"/> starts this program.</summary>
    public static Command CreateCommand()
    {
        var parent = new Argument<int>("parent");
        var config = new Argument<string>("config");
        var command = new Command(Name, "Started by the other commands.") { parent, config };
        command.Hidden = true;
        command.SetAction((parse, stop) => RunAsync(parse.GetValue(parent), parse.GetRequiredValue(config), stop));
        return command;
    }

    private static async Task<int> RunAsync(int parent, string config, CancellationToken cancellationToken)
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
