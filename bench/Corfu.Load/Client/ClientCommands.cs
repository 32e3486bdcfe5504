using System.CommandLine;
using System.Globalization;
using Corfu.Client;

namespace Corfu.Load;

/// <summary><c>checks</c> and <c>holes</c>: figures of one client in this process, on a cluster of processes.</summary>
internal static class ClientCommands
{
    public static Command Checks() => Create(
        "checks",
        "Confirmed checks of many sharing callers beside unconfirmed tail queries of the sequencer, in turns.",
        async (cluster, p, rounds) => await ShareOfChecks.RunAsync(cluster, p, rounds));

    public static Command Holes() => Create(
        "holes",
        "How long a reader needs for a hole: abandoned by its writer, and written at the head alone.",
        async (cluster, p, rounds) => await HoleTimes.RunAsync(cluster, p, rounds));

    private static Command Create(string name, string description, Func<string, RunParameters, int, Task> run)
    {
        var options = new LoadOptions();
        var command = new Command(name, description);
        options.AddCommon(command);
        options.AddCluster(command);
        command.SetAction(async (result, cancellationToken) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            await using var cluster = await LoadCluster.StartAsync(result, options, folder.Path, cancellationToken);
            var parameters = options.Parameters(result, cluster.Description);
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{name}: {parameters.InFlight} in flight, {parameters.Target}; {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}"));
            await run(cluster.ConnectionString, parameters, result.GetValue(options.Rounds));
            return 0;
        });
        return command;
    }

    public static void Print(string name, LatencyHistogram histogram, double seconds) => Console.WriteLine(string.Create(
        CultureInfo.InvariantCulture,
        $"  {name,-34} {histogram.Count / seconds,10:0}/s  p50 {histogram.Quantile(0.5) / 1000,8:0} us  p99 {histogram.Quantile(0.99) / 1000,8:0} us"));
}
