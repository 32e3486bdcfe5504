using System.Diagnostics;
using System.Globalization;
using Corfu.Hosting;

namespace SharedSample;

/// <summary>A cluster of processes in a temporary folder, which end and go with it: three units with two replicas of
/// each entry, and a sequencer. Agents do not reconfigure: what is killed is started again at once.</summary>
/// <param name="name">Part of the name of the temporary folder.</param>
public sealed class ClusterProcesses(string name) : IAsyncDisposable
{
    private static readonly ClusterShape s_shape = new() { Units = 3, Replicas = 2, Automatic = false };

    private readonly string _folder = Directory.CreateTempSubdirectory($"corfu-{name}-").FullName;

    private readonly ProcessCluster _processes = new(NodeCommandLine.Self(
        NodeMode.Name, Environment.ProcessId.ToString(CultureInfo.InvariantCulture)));

    private ClusterState? _state;

    public string ConnectionString => _state!.ConnectionString;

    /// <summary>The nodes' names: units first.</summary>
    public IReadOnlyList<string> Nodes =>
        [.. _state!.Nodes.OrderBy(node => node.Role).Select(node => node.Node).Distinct()];

    /// <summary>Starts what does not run, and waits until the cluster serves.</summary>
    /// <exception cref="NodeStartException">The cluster does not serve.</exception>
    public async Task UpAsync(CancellationToken cancellationToken) =>
        _state = await _processes.UpWholeAsync(_folder, s_shape, cancellationToken);

    public Task DownAsync() => _processes.DownAsync(_folder);

    /// <summary>SIGKILL to one node, which is then started again.</summary>
    public async Task KillAsync(string node, CancellationToken cancellationToken)
    {
        int id = _state!.Nodes.First(state => state.Node == node).ProcessId
            ?? throw new ChildProcessException($"{node} does not run");
        using (var process = Process.GetProcessById(id))
        {
            process.Kill();
            await process.WaitForExitAsync(cancellationToken);
        }

        await UpAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        if (ClusterFolder.Exists(_folder)) await DownAsync();
        Directory.Delete(_folder, recursive: true);
    }
}
