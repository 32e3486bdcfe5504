using System.CommandLine;
using System.Globalization;

namespace Corfu.Load;

/// <summary><c>open</c> and <c>playback</c>: how fast a new process has an object, from its checkpoint and from its
/// history. One client in this process, on a cluster of processes.</summary>
internal static class ObjectCommands
{
    public static Command Open()
    {
        var entries = Count("--entries", "Entries of the dictionary.", 1_000_000);
        return Create("open", "Opening a large dictionary from its checkpoint.", entries,
            async (cluster, count, size, rounds) =>
            {
                await ObjectOpening.WriteAsync(cluster, count, count, size);
                var bytes = await ObjectOpening.CheckpointAsync(cluster);
                var measured = await rounds.RunAsync(() => ObjectOpening.OpenAsync(cluster, count));
                return string.Create(CultureInfo.InvariantCulture,
                    $"open entries={count} value_bytes={size} checkpoint_bytes={bytes} "
                    + $"seconds={measured.Seconds:0.00} entries_per_second={count / measured.Seconds:0} "
                    + $"cpu_seconds={measured.Busy:0.00} memory_mb={measured.Memory >> 20}");
            });
    }

    public static Command Playback()
    {
        var updates = Count("--updates", "Updates in the dictionary's history.", 2_000_000);
        var keys = Count("--keys", "Keys that they set in turn.", 10_000);
        return Create("playback", "Playing the history of a dictionary.", updates,
            async (cluster, count, size, rounds) =>
            {
                var distinct = Math.Min(rounds.Result.GetValue(keys), count);
                await ObjectOpening.WriteAsync(cluster, count, distinct, size);
                var measured = await rounds.RunAsync(() => ObjectOpening.OpenAsync(cluster, distinct));
                return string.Create(CultureInfo.InvariantCulture,
                    $"playback updates={count} keys={distinct} value_bytes={size} seconds={measured.Seconds:0.00} "
                    + $"updates_per_second={count / measured.Seconds:0} cpu_seconds={measured.Busy:0.00}");
            },
            keys);
    }

    private static Command Create(string name, string description, Option<int> count,
        Func<string, int, int, ObjectRounds, Task<string>> run, params Option[] more)
    {
        var options = new LoadOptions();
        var command = new Command(name, description) { count };
        Option[] common = [options.InFlight, options.Size, options.Rounds, options.Seconds, options.Directory, .. more];
        foreach (var option in common) command.Add(option);
        options.Size.DefaultValueFactory = static _ => 100;
        options.Size.Description = "Characters of each value, a byte each.";
        options.Seconds.Description = "Length of each baseline of a round.";
        options.AddCluster(command);
        command.SetAction(async (result, cancellationToken) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            await using var cluster = await LoadCluster.StartAsync(result, options, folder.Path, cancellationToken);
            var parameters = new RunParameters(1, result.GetValue(options.InFlight), result.GetValue(options.Size),
                result.GetValue(options.Seconds), cluster.Description);
            Console.WriteLine(
                $"{name}: {cluster.Description}; {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
            using var baselines = new MachineBaselines(parameters, folder.Path);
            var rounds = new ObjectRounds(result, result.GetValue(options.Rounds), baselines);
            var line = await run(cluster.ConnectionString, result.GetValue(count), parameters.Size, rounds);
            Console.WriteLine($"{line} rounds={result.GetValue(options.Rounds)} {baselines.Figures()}");
            return 0;
        });
        return command;
    }

    private static Option<int> Count(string name, string description, int value)
    {
        var option = new Option<int>(name) { Description = description, DefaultValueFactory = _ => value };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < 1) result.AddError($"{name} must be at least 1.");
        });
        return option;
    }
}
