using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Corfu.Hosting;

/// <summary>Runs the node for as long as its host runs.</summary>
internal sealed class CorfuNodeService(IOptions<NodeOptions> options, ILoggerFactory loggers, TimeProvider time)
    : IHostedService, IReloadable
{
    private readonly ILogger _logger = loggers.CreateLogger<CorfuNode>();
    private CorfuNode? _node;

    /// <summary>Null before the start and after the stop.</summary>
    public CorfuNode? Node => Volatile.Read(ref _node);

    public async Task StartAsync(CancellationToken cancellationToken) =>
        Volatile.Write(ref _node, await CorfuNode.StartAsync(options.Value, loggers, time, cancellationToken));

    public ImmutableArray<string> Reload(NodeOptions now) => Node?.Reload(now) ?? [];

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _node, null) is not { } node) return;
        HostingLog.Stopping(_logger, node.Name);
        await node.DisposeAsync();
    }
}
