using Corfu.Hosting;
using Corfu.Operations.Figures;

namespace Corfu.Operations;

/// <summary>The operators' side of a node process: the HTTP endpoint of <c>http</c> in its configuration, and the
/// collector of <c>telemetry</c>.</summary>
/// <param name="console">Maps the console, where a configuration asks for it.</param>
public sealed class NodeOperations(INodePages? console = null) : INodeExtension
{
    public async Task<IAsyncDisposable?> StartAsync(NodeSurroundings node, CancellationToken cancellationToken)
    {
        if (node.Options.Http is null && node.Options.Telemetry is null) return null;
        if (node.Options.Http is { Console: true } && console is null)
            throw new NodeStartException("http.console is set, and this program has no console. Leave it out.");
        var collector = new Collector(node);
        try
        {
            var endpoint = node.Options.Http is { } http
                ? await OperationsEndpoint.StartAsync(node, http, collector, http.Console ? console : null,
                    cancellationToken)
                : null;
            return new Running(collector, endpoint);
        }
        catch
        {
            collector.Dispose();
            throw;
        }
    }

    private sealed class Running(Collector collector, OperationsEndpoint? endpoint) : IAsyncDisposable, IReloadable
    {
        public ImmutableArray<string> Reload(NodeOptions now) =>
            now.Http is { } http && endpoint?.Use(http) == true ? ["http.anonymous"] : [];

        public async ValueTask DisposeAsync()
        {
            if (endpoint is not null) await endpoint.DisposeAsync();
            collector.Dispose();
        }
    }
}
