using System.Globalization;
using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>A run of <c>lifetime</c> over a cluster: the writer process, its kills, and what is watched
/// meanwhile.</summary>
/// <param name="folder">Folder of the cluster: its use of the disk is measured there.</param>
internal sealed class LifetimeRun(string connectionString, string folder, LifetimeOptions options)
{
    private static readonly TimeSpan s_watch = TimeSpan.FromSeconds(2);

    private readonly List<long> _memory = [];
    private long _acknowledged;
    private long _diskMax;
    private int _trims;

    public async Task WriteAsync(CancellationToken cancellationToken)
    {
        using var done = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var watching = WatchAsync(done.Token);
        while (_acknowledged < options.Updates)
        {
            await RunWriterAsync(cancellationToken);
            Console.Error.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"{_acknowledged} of {options.Updates} updates, {_diskMax >> 20} MB at most, {_trims} trims"));
        }

        await done.CancelAsync();
        await watching;
    }

    /// <returns>The command's last line.</returns>
    public async Task<string> ReportAsync(CancellationToken cancellationToken)
    {
        var (played, seconds, match) = await ReopenAsync(cancellationToken);
        var pinned = await FindPinAsync(cancellationToken);
        return string.Create(CultureInfo.InvariantCulture,
            $"lifetime updates={options.Updates} disk_max_mb={_diskMax >> 20} disk_end_mb={DiskBytes() >> 20} "
            + $"trims={_trims} pinned={pinned ?? "none"} reopen_seconds={seconds:0.0} reopen_updates={played} "
            + $"memory_flat={(IsMemoryFlat() ? "yes" : "no")} match={(match ? "yes" : "no")}");
    }

    // Everything acknowledged before a kill is there; what was on its way is written again, to the same values.
    private async Task RunWriterAsync(CancellationToken cancellationToken)
    {
        using var writer = ChildProcess.Start(LifetimeWriter.Name, "--connect", connectionString,
            "--from", Number(_acknowledged), "--updates", Number(options.Updates), "--keys", Number(options.Keys),
            "--idle", Number(options.Idle));
        using var kill = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        kill.CancelAfter(options.KillEvery);
        await using var killing = kill.Token.Register(() => writer.Kill());
        while (await writer.StandardOutput.ReadLineAsync(CancellationToken.None) is { } line)
        {
            var parts = line.Split(' ');
            _acknowledged = long.Parse(parts[0], CultureInfo.InvariantCulture);
            _memory.Add(long.Parse(parts[1], CultureInfo.InvariantCulture));
        }

        await writer.WaitForExitAsync(CancellationToken.None);
        cancellationToken.ThrowIfCancellationRequested();
        if (!kill.IsCancellationRequested && writer.ExitCode != 0)
            throw new IOException($"The client ended with code {writer.ExitCode}.");
    }

    private async Task WatchAsync(CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connectionString, cancellationToken: cancellationToken);
        await using var runtime = new TangoRuntime(client, new TangoOptions { Checkpoints = null });
        var released = (await runtime.Log.ReadTrimPointAsync(cancellationToken)).Released;
        try
        {
            while (true)
            {
                await Task.Delay(s_watch, cancellationToken);
                _diskMax = Math.Max(_diskMax, DiskBytes());
                var now = (await runtime.Log.ReadTrimPointAsync(cancellationToken)).Released;
                if (now > released) _trims++;
                released = now;
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The writer is done.
        }
    }

    private async Task<(long Played, double Seconds, bool Match)> ReopenAsync(CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(connectionString, cancellationToken: cancellationToken);
        await using var runtime = new TangoRuntime(client, new TangoOptions { Checkpoints = null });
        await runtime.SyncAsync(cancellationToken);
        using var played = new PlayedRecords();
        var started = TimeProvider.System.GetTimestamp();
        var live =
            await runtime.OpenAsync<TangoDictionary<int, long>>(LifetimeWriter.Live,
                OpenMode.Create, cancellationToken);
        var values = await live.SnapshotAsync(cancellationToken);
        var seconds = TimeProvider.System.GetElapsedTime(started).TotalSeconds;
        var match = values.Count == Math.Min(options.Keys, options.Updates);
        foreach (var (key, value) in values)
            match &= value == key + ((options.Updates - 1 - key) / options.Keys * options.Keys);
        return (played.Count, seconds, match);
    }

    /// <summary>Finds the claim that has held the trim point for longer than checkpoints and MaxSpan explain.</summary>
    private async Task<string?> FindPinAsync(CancellationToken cancellationToken)
    {
        var expected = (4 * new CheckpointPolicy().Updates) + new TangoOptions().NewLogMaxSpan;
        await using var client = await CorfuClient.ConnectAsync(connectionString, cancellationToken: cancellationToken);
        await using var runtime = new TangoRuntime(client, new TangoOptions { Checkpoints = null });
        var point = await runtime.Log.ReadTrimPointAsync(cancellationToken);
        var tail = (await client.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        return tail - point.Claims[0].Position > expected ? point.Claims[0].Name.Replace(' ', '_') : null;
    }

    // The second half of the run needs hardly more than the first.
    private bool IsMemoryFlat()
    {
        var half = _memory.Count / 2;
        return half == 0 || _memory.Skip(half).Max() <= _memory.Take(half).Max() * 1.25;
    }

    private long DiskBytes() => new DirectoryInfo(folder).EnumerateFiles("*", SearchOption.AllDirectories)
        .Sum(static file => file.Exists ? file.Length : 0);

    private static string Number(long value) => value.ToString(CultureInfo.InvariantCulture);
}

internal sealed record LifetimeOptions(long Updates, int Keys, int Idle, int Unhosted, TimeSpan KillEvery);
