using System.CommandLine;
using System.Diagnostics;
using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.Load;

/// <summary>The cluster under load: the one that was named, or processes started for the run.</summary>
internal sealed class LoadCluster : IAsyncDisposable
{
    private readonly ProcessCluster? _processes;
    private readonly string _folder;
    private ClusterState? _state;

    private LoadCluster(string connectionString, string description, ProcessCluster? processes, string folder)
    {
        ConnectionString = connectionString;
        Description = description;
        _processes = processes;
        _folder = folder;
    }

    public string ConnectionString { get; }

    public string Description { get; }

    public static async Task<LoadCluster> StartAsync(ParseResult result, LoadOptions options, string folder,
        CancellationToken cancellationToken)
    {
        if (result.GetValue(options.Connect) is { } connect) return new LoadCluster(connect, connect, null, folder);
        var shape = new ClusterShape
        {
            Units = result.GetValue(options.Units),
            Replicas = result.GetValue(options.Replicas)
        };
        var path = Path.Combine(folder, $"cluster-{shape.Units}-{shape.Replicas}");
        return await StartAsync(shape, path, cancellationToken);
    }

    public static async Task<LoadCluster> StartAsync(ClusterShape shape, string path,
        CancellationToken cancellationToken)
    {
        if (shape.Faults() is { Count: > 0 } faults) throw new NodeStartException(string.Join('\n', faults));
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        try
        {
            var state = await processes.UpWholeAsync(path, shape, cancellationToken);
            return new LoadCluster(state.ConnectionString, $"{shape.Units} unit processes, {shape.Replicas} replicas",
                processes, path)
            { _state = state };
        }
        catch
        {
            // Some of its processes may run, and they would outlive this one.
            if (ClusterFolder.Exists(path)) await processes.DownAsync(path, CancellationToken.None);
            throw;
        }
    }

    /// <summary>The process that serves at the address, of a cluster that was started here.</summary>
    public int ProcessAt(NodeEndpoint endpoint) =>
        _state!.Nodes.First(node => node.Endpoint == endpoint).ProcessId!.Value;

    /// <summary>Processor time of all processes of a cluster that was started here, since their start.</summary>
    public TimeSpan ProcessorTime()
    {
        var total = TimeSpan.Zero;
        foreach (var id in _state!.Nodes.Select(node => node.ProcessId).OfType<int>().Distinct())
        {
            using var process = Process.GetProcessById(id);
            total += process.TotalProcessorTime;
        }

        return total;
    }

    public async ValueTask DisposeAsync()
    {
        if (_processes is not null) await _processes.DownAsync(_folder);
    }
}
