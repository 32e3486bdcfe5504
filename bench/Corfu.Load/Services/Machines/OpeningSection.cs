using System.Diagnostics;
using System.Globalization;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Load.Suite;
using Corfu.StateMachines;

namespace Corfu.Load;

/// <summary>The time until a replica has a history, beside a bare cursor over the same entries, and with a
/// snapshot.</summary>
internal static class OpeningSection
{
    private const string Machine = "opening";
    private const int FullCommands = 200_000;
    private const int QuickCommands = 10_000;
    private const int AtOnce = 4096;

    // The history has to be there, and the snapshot is made on demand.
    private static readonly ReplicaOptions s_options = new()
    {
        SnapshotCommands = int.MaxValue,
        SnapshotBytes = long.MaxValue,
    };

    public static async Task RunAsync(SuiteRun run, FigureSection section, CancellationToken cancellationToken)
    {
        await using var cluster = await run.Clusters.StartAsync(
            new ClusterShape { Units = 3, Replicas = 2 }, cancellationToken);
        var commands = run.Settings.Quick ? QuickCommands : FullCommands;
        var parameters = new RunParameters(
            1, ServicePoints.Window, MachinesCommand.CommandBytes, run.Settings.Seconds / 2, cluster.Description);
        using var baselines = new MachineBaselines(parameters, run.Folder);
        await WriteAsync(cluster.ConnectionString, commands, cancellationToken);
        var (cursors, replicas, snapshots) = (new List<double>(), new List<double>(), new List<double>());
        // The first of each compiles the code.
        await ReadAsync(cluster.ConnectionString, cancellationToken);
        await OpenAsync(cluster.ConnectionString, commands, cancellationToken);
        for (var round = 0; round < run.Settings.Rounds; round++)
        {
            await baselines.MeasureAsync();
            if (round % 2 == 0) cursors.Add(await ReadAsync(cluster.ConnectionString, cancellationToken));
            replicas.Add(await OpenAsync(cluster.ConnectionString, commands, cancellationToken));
            if (round % 2 != 0) cursors.Add(await ReadAsync(cluster.ConnectionString, cancellationToken));
        }

        await SnapshotAsync(cluster.ConnectionString, cancellationToken);
        for (var round = 0; round < run.Settings.Rounds; round++)
            snapshots.Add(await OpenAsync(cluster.ConnectionString, commands, cancellationToken));
        section.Note(string.Create(CultureInfo.InvariantCulture,
            $"{commands} commands of {MachinesCommand.CommandBytes} bytes, up to 125 to an entry; three units, two "
            + $"replicas. A new client opens the replica: history is read and executed. The bare cursor reads the "
            + $"same entries and decodes nothing. Of the same rounds: {baselines.Figures()}."));
        section.Columns("system", "seconds", "least to most", "commands/s");
        Row(section, "bare stream cursor", cursors, commands);
        Row(section, "replica, from history", replicas, commands);
        Row(section, "replica, from a snapshot", snapshots, null);
        section.Sum("playback", commands / RoundResult.Middle(replicas));
        section.Sum("playback_of_cursor", RoundResult.Middle(cursors.Zip(replicas, static (a, b) => a / b)), "0.00");
        section.Sum("opening_snapshot_ms", RoundResult.Middle(snapshots) * 1000);
    }

    private static void Row(FigureSection section, string system, List<double> seconds, int? commands)
    {
        var middle = RoundResult.Middle(seconds);
        section.Row(system, Figure(middle), $"{Figure(seconds.Min())} to {Figure(seconds.Max())}",
            commands is { } count ? Cell.Count(count / middle) : "");

        static string Figure(double value) => value.ToString("0.000", CultureInfo.InvariantCulture);
    }

    private static async Task WriteAsync(string connect, int commands, CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connect, cancellationToken: cancellationToken);
        await using var replica = await NewAsync(client, cancellationToken);
        var command = new byte[MachinesCommand.CommandBytes];
        foreach (var chunk in Enumerable.Range(0, commands).Chunk(AtOnce))
        {
            var outcomes = await Task.WhenAll(
                chunk.Select(_ => replica.ProposeAsync(command, cancellationToken).AsTask()));
            foreach (var outcome in outcomes) outcome.Require();
        }
    }

    private static async Task SnapshotAsync(string connect, CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connect, cancellationToken: cancellationToken);
        await using var replica = await NewAsync(client, cancellationToken);
        await replica.SnapshotAsync(cancellationToken);
    }

    private static async Task<double> ReadAsync(string connect, CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connect, cancellationToken: cancellationToken);
        var began = Stopwatch.GetTimestamp();
        var cursor = new StreamCursor(client, StreamId.FromName($"machine/{Machine}"));
        await cursor.SyncAsync(cancellationToken: cancellationToken);
        while (await cursor.ReadNextAsync(cancellationToken) is not null)
        {
        }

        return Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static async Task<double> OpenAsync(string connect, int expected, CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connect, cancellationToken: cancellationToken);
        var began = Stopwatch.GetTimestamp();
        await using var replica = await NewAsync(client, cancellationToken);
        var seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        var count = await replica.QueryAsync(
            static machine => machine.Count, QueryAs.Local, cancellationToken);
        return count == expected
            ? seconds
            : throw new CorfuException($"The replica has executed {count} commands, not {expected}.");
    }

    private static ValueTask<Replica<CountingMachine>> NewAsync(
        CorfuClient client, CancellationToken cancellationToken) =>
        Replica<CountingMachine>.OpenAsync(
            client, Machine, static () => new CountingMachine(), s_options, cancellationToken);
}
