using Corfu.Client;
using Microsoft.Extensions.Hosting;

namespace Corfu.Hosting;

/// <summary>Starts what a node process serves beside its roles: a listener of its own, over an ordinary client that
/// connects when it is needed. Disposing the result ends it.</summary>
/// <param name="connection">The cluster, as <see cref="ConnectionString"/>; this node is part of it.</param>
/// <param name="allow">As <see cref="NodeOptions.GrpcAllow"/>.</param>
public delegate Task<IAsyncDisposable> StartFrontEnd(NodeEndpoint listen, string connection, ILoggerFactory loggers,
    IReadOnlyCollection<string> allow, CancellationToken cancellationToken);

/// <summary>Runs the front end for as long as its host runs.</summary>
internal sealed class FrontEndService(StartFrontEnd start, NodeOptions options, ILoggerFactory loggers)
    : IHostedService
{
    private IAsyncDisposable? _frontEnd;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        // A process without an acceptor finds the cluster through the others.
        ImmutableArray<NodeEndpoint> known =
        [
            .. options.Peers.Prepend(options.Listen).Distinct().Take(ConnectionString.MaxEndpoints)
                .Select(peer => NodeEndpoint.TryParse(peer, out var endpoint) ? endpoint : default),
        ];
        _ = NodeEndpoint.TryParse(options.GrpcListen, out var listen);
        try
        {
            _frontEnd = await start(
                listen, new ConnectionString(known).ToString(), loggers, options.GrpcAllow, cancellationToken);
        }
        catch (CorfuException e) when (e is not NodeStartException)
        {
            throw new NodeStartException(e.Message, e);
        }
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _frontEnd, null) is { } frontEnd) await frontEnd.DisposeAsync();
    }
}
