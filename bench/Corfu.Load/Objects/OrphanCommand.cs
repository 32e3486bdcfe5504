using System.CommandLine;
using System.Globalization;
using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary><c>orphans</c>: how long a reader waits behind the transactions of a client that died before it published
/// their decisions, where no process hosts what they read.</summary>
internal static class OrphanCommand
{
    private const string Read = "read";
    private const string Written = "written";

    public static Command Create()
    {
        var count = new Option<int>("--count")
        {
            Description = "Transactions in flight when their client dies.",
            DefaultValueFactory = _ => 50,
        };
        count.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < 1) result.AddError("--count must be at least 1.");
        });
        var options = new LoadOptions();
        var command = new Command("orphans", "A read behind the undecided transactions of a client that is gone.")
        {
            count, options.Directory,
        };
        options.AddCluster(command);
        command.SetAction(async (result, cancellationToken) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            await using var cluster = await LoadCluster.StartAsync(result, options, folder.Path, cancellationToken);
            Console.WriteLine(
                $"orphans: {cluster.Description}; {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
            var orphans = result.GetValue(count);
            var time = await RunAsync(cluster.ConnectionString, orphans);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"orphans={orphans} first_read_ms={time.TotalMilliseconds:0}"));
            return 0;
        });
        return command;
    }

    private static async Task<TimeSpan> RunAsync(string cluster, int orphans)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        // The reader plays when it is asked to, and not before.
        await using var reader = new TangoRuntime(client, new TangoOptions { IdlePlayback = null });
        var written = await reader.OpenAsync<TangoDictionary<int, int>>(Written, OpenMode.Create);
        await DieAsync(client, orphans);
        var began = TimeProvider.System.GetTimestamp();
        var found = await written.CountAsync();
        var time = TimeProvider.System.GetElapsedTime(began);
        return found == orphans
            ? time
            : throw new InvalidDataException($"{found} of {orphans} transactions have taken effect.");
    }

    /// <summary>A client decides its transactions, and dies before any decision record is in the log.</summary>
    private static async Task DieAsync(ICorfuLog log, int orphans)
    {
        await using var runtime = new TangoRuntime(
            new MutedLog(log), new TangoOptions { MaxBatchRecords = 1, MaxAppendsInFlight = 4 * orphans });
        var read = await runtime.OpenAsync<TangoDictionary<int, int>>(Read, OpenMode.Create);
        var written = await runtime.OpenWriteOnlyAsync<TangoDictionary<int, int>>(Written);
        await Task.WhenAll(Enumerable.Range(0, orphans).Select(async i =>
        {
            var outcome = await runtime.RunTransactionAsync(
                async _ => await written.SetAsync(i, (await read.TryGetAsync(i)).Value + 1));
            if (!outcome.IsCommitted) throw new InvalidDataException($"Transaction {i} did not commit: {outcome}");
        }));
    }
}
