using System.CommandLine;
using System.Globalization;
using Corfu.Client;
using Corfu.Protocol;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary><c>open</c> and <c>playback</c>: how fast a new process has an object, from its checkpoint and from its
/// history. One client in this process, on a cluster of processes.</summary>
internal static class ObjectCommands
{
    private const string Name = "live";
    private const int InFlight = 4096;

    // The checkpoint is made on demand, and playback must find the history.
    private static readonly TangoOptions s_options = new() { Checkpoints = null };

    public static Command Open()
    {
        var entries = Count("--entries", "Entries of the dictionary.", 1_000_000);
        return Create("open", "Opening a large dictionary from its checkpoint.", entries,
            async (cluster, count, size, rounds) =>
            {
                await WriteAsync(cluster, count, count, size);
                var bytes = await CheckpointAsync(cluster);
                var measured = await rounds.RunAsync(() => OpenAsync(cluster, count));
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
                await WriteAsync(cluster, count, distinct, size);
                var measured = await rounds.RunAsync(() => OpenAsync(cluster, distinct));
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

    private static async Task WriteAsync(string cluster, int updates, int keys, int size)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var runtime = new TangoRuntime(client, s_options);
        var live = await runtime.OpenWriteOnlyAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
        for (var next = 0; next < updates; next += InFlight)
        {
            await Task.WhenAll(Enumerable.Range(next, Math.Min(InFlight, updates - next))
                .Select(i => live.SetAsync(i % keys, $"{i} ".PadRight(size, '.')).AsTask()));
        }
    }

    /// <returns>Payload bytes of its entries.</returns>
    private static async Task<long> CheckpointAsync(string cluster)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var runtime = new TangoRuntime(client, s_options);
        var live = await runtime.OpenAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
        var before = (await client.CheckAsync([])).Tail;
        await runtime.CheckpointAsync(live);
        var bytes = 0L;
        for (var position = before; position < (await client.CheckAsync([])).Tail; position = position.Next)
            bytes += (await client.ReadManyAsync([position]))[0].Entry?.Payload.Length ?? 0;
        return bytes;
    }

    // The directory is open before: the object alone counts.
    private static async Task<ObjectRound> OpenAsync(string cluster, int expected)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var runtime = new TangoRuntime(client, s_options);
        await runtime.ListObjectsAsync();
        var memory = GC.GetTotalMemory(forceFullCollection: true);
        var busy = Environment.CpuUsage.TotalTime;
        var started = TimeProvider.System.GetTimestamp();
        var live = await runtime.OpenAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
        var count = await live.CountAsync();
        var seconds = TimeProvider.System.GetElapsedTime(started).TotalSeconds;
        busy = Environment.CpuUsage.TotalTime - busy;
        if (count != expected) throw new InvalidDataException($"It has {count} entries, not {expected}.");
        memory = GC.GetTotalMemory(forceFullCollection: true) - memory;
        GC.KeepAlive(live);
        return new ObjectRound(seconds, busy.TotalSeconds, memory);
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
