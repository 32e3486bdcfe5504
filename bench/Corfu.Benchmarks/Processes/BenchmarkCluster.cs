using System.Globalization;
using Corfu.Client;
using Corfu.Hosting;

namespace Corfu.Benchmarks;

/// <summary>A cluster of processes for one benchmark: three units with two replicas of each entry, all writes durable,
/// and a sequencer.</summary>
internal sealed class BenchmarkCluster : IAsyncDisposable
{
    private readonly string _path = RunFolder.Create("cluster");

    private readonly ProcessCluster _processes = new(ProgramFile.With(
        NodeProcess.Name, Environment.ProcessId.ToString(CultureInfo.InvariantCulture)));

    private BenchmarkCluster()
    {
    }

    public string Connection { get; private set; } = "";

    public static async Task<BenchmarkCluster> StartAsync()
    {
        var cluster = new BenchmarkCluster();
        try
        {
            var state = await cluster._processes.UpWholeAsync(cluster._path, new ClusterShape());
            cluster.Connection = state.ConnectionString;
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    public Task<CorfuClient> ConnectAsync() => CorfuClient.ConnectAsync(Connection);

    public async ValueTask DisposeAsync()
    {
        try
        {
            await _processes.DownAsync(_path);
        }
        finally
        {
            Directory.Delete(_path, recursive: true);
        }
    }
}
