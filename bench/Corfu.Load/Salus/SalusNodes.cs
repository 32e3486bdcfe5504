using System.Diagnostics;
using Corfu.Hosting;
using Salus;
using Salus.Hosting;
using Salus.Protocol;

namespace Corfu.Load;

/// <summary>Salus nodes as <c>corfu salus up</c> starts them: a process each, over a log of its own processes, with a
/// volume of three copies and one of a single copy.</summary>
internal sealed class SalusNodes : IAsyncDisposable
{
    public const string Three = "three";
    public const string One = "one";
    public const long Size = 64L << 20;

    // The log coordinates: it is off the path of reads and writes.
    private static readonly ClusterShape s_log = new() { Units = 1, Replicas = 1 };

    private readonly ProcessCluster _logs = new(NodeCommandLine.Self(NodeProcessCommand.Name));
    private readonly ProcessSalus _processes = new(NodeCommandLine.Self(SalusNodeCommands.Node));
    private readonly string _path;
    private SalusFolder? _folder;

    private SalusNodes(string path) => _path = path;

    public string Log => _folder!.Manifest.Log;

    public static async Task<SalusNodes> StartAsync(string path, int nodes, CancellationToken cancellationToken)
    {
        var started = new SalusNodes(path);
        try
        {
            var state = await started._logs.UpWholeAsync(Path.Combine(path, "log"), s_log, cancellationToken);
            var (folder, problems) = await started._processes.UpAsync(
                path, new SalusShape(state.ConnectionString) { Nodes = nodes }, cancellationToken);
            started._folder = folder;
            if (!problems.IsEmpty) throw new NodeStartException(string.Join('\n', problems));
            await using var log = await SalusLog.ConnectAsync(
                state.ConnectionString, cancellationToken: cancellationToken);
            await log.Admin.CreateAsync(Three, VolumeGeometry.Create(Size, copies: 3), cancellationToken);
            await log.Admin.CreateAsync(One, VolumeGeometry.Create(Size, copies: 1), cancellationToken);
            return started;
        }
        catch
        {
            // Processes outlive their parent.
            await started.DisposeAsync();
            throw;
        }
    }

    /// <summary>Mounts a volume in this process.</summary>
    public async Task<(SalusConnection Connection, IVolume Volume)> MountAsync(
        string volume, SalusClientOptions options, CancellationToken cancellationToken)
    {
        var connection = await SalusConnection.OpenAsync(Log, options, cancellationToken: cancellationToken);
        try
        {
            var source = await connection.FindVolumeAsync(volume, cancellationToken);
            return (connection, await source.MountAsync(cancellationToken));
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    /// <summary>Processor time of all nodes together.</summary>
    public TimeSpan ProcessorTime()
    {
        var total = TimeSpan.Zero;
        foreach (var node in _folder!.Manifest.Nodes)
        {
            using var process = Process.GetProcessById(NodeProcess.RunningIn(_folder.NodePath(node))
                ?? throw new CorfuException($"{node.Name} does not run; its log file says why."));
            total += process.TotalProcessorTime;
        }

        return total;
    }

    public async ValueTask DisposeAsync()
    {
        if (SalusFolder.Exists(_path)) await _processes.DownAsync(_path, CancellationToken.None);
        var log = Path.Combine(_path, "log");
        if (ClusterFolder.Exists(log)) await _logs.DownAsync(log, CancellationToken.None);
    }
}
