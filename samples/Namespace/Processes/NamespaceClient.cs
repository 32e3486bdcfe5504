using Corfu.Client;
using NamespaceSample.Service;
using Tango;

namespace NamespaceSample.Processes;

/// <summary>The namespace on a cluster: connection, runtime and service, disposed together.</summary>
internal sealed class NamespaceClient : IAsyncDisposable
{
    private readonly CorfuClient _log;

    private NamespaceClient(CorfuClient log, NamespaceService service) => (_log, Service) = (log, service);

    public NamespaceService Service { get; }

    public TangoRuntime Runtime => Service.Runtime;

    /// <param name="hosted">The partitions that this process hosts.</param>
    public static async Task<NamespaceClient> ConnectAsync(
        string connection, IReadOnlyCollection<int> hosted, TangoOptions options, CancellationToken cancellationToken)
    {
        CorfuClient log = await CorfuClient.ConnectAsync(connection, cancellationToken: cancellationToken);
        try
        {
            var runtime = new TangoRuntime(log, options);
            for (int i = 0; i < PartitionMap.Count; i++)
            {
                if (!hosted.Contains(i)
                    && !await runtime.Directory.ExistsAsync(Partition.EntriesOf(i), cancellationToken))
                    await CreateAsync(log, options, i, cancellationToken);
            }

            return new NamespaceClient(log, await NamespaceService.OpenAsync(runtime, hosted, cancellationToken));
        }
        catch
        {
            await log.DisposeAsync();
            throw;
        }
    }

    // By a runtime that ends at once: this process is not to host it.
    private static async Task CreateAsync(
        CorfuClient log, TangoOptions options, int partition, CancellationToken cancellationToken)
    {
        await using var runtime = new TangoRuntime(log, options with { Checkpoints = null });
        await Partition.HostAsync(runtime, partition, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await Runtime.DisposeAsync();
        await _log.DisposeAsync();
    }
}
