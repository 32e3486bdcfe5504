using System.CommandLine;
using System.Globalization;
using Corfu.Client;
using HdrHistogram;

namespace Corfu.Load;

/// <summary><c>checks</c>, <c>holes</c>, <c>opening</c>, <c>objects</c>: figures of one client in this process, on a
/// cluster of processes.</summary>
internal static class ClientCommands
{
    public static Command Checks() => Create(
        "checks",
        "Confirmed checks of many sharing callers beside unconfirmed tail queries of the sequencer, in turns.",
        async (cluster, p, rounds, _) => await ShareOfChecks.RunAsync(cluster, p, rounds));

    public static Command Holes() => Create(
        "holes",
        "How long a reader needs for a hole: abandoned by its writer, and written at the head alone; and what "
        + "appends lose to a reader at the tail.",
        HoleTimes.RunAsync);

    public static Command Opening() => Create(
        "opening",
        "Reads of an open Tango object, alone and while one with a history of 300,000 updates opens in its runtime.",
        async (cluster, p, rounds, _) => await OpeningTimes.RunAsync(cluster, p, rounds));

    public static Command Objects() => Create(
        "objects",
        "Reads, updates and openings in a runtime that hosts 10 Tango objects, and in one that hosts 10,000.",
        async (cluster, p, _, _) => await ManyObjects.RunAsync(cluster, p));

    private static Command Create(string name, string description, Func<string, RunParameters, int, string, Task> run)
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
                $"{name}: {parameters.InFlight} in flight, {parameters.Target}; {RunInfo.Current.Machine}, commit "
                + $"{RunInfo.Current.Commit}"));
            await run(cluster.ConnectionString, parameters, result.GetValue(options.Rounds), folder.Path);
            return 0;
        });
        return command;
    }

    public static void Print(string name, LongHistogram histogram, double seconds) =>
        Print(name, histogram.TotalCount / seconds, histogram.Microseconds(50), histogram.Microseconds(99));

    /// <summary>Times in microseconds.</summary>
    public static void Print(string name, double perSecond, double p50, double p99) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"  {name,-42} {perSecond,10:0}/s  p50 {p50,8:0} us  p99 {p99,8:0} us"));
}
