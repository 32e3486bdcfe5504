using Salus.Coordination;
using Salus.Region;
using Salus.Region.Body;
using Salus.Region.Recovery;
using Salus.Store.Shell;

namespace Salus.Hosting;

/// <summary>Parts of a node that outlive its terms.</summary>
internal sealed record NodeParts(RoleStart Start, SalusNodeSettings Settings, StoreFolder Store, IRegionBodies Bodies,
    ITransport Transport, MapGenerations Generations);

/// <summary>The region servers of one incarnation: a role of the process as long as the lease is held.</summary>
internal sealed class NodeTerm : IAsyncDisposable
{
    private readonly NodeParts _parts;
    private readonly RegionMap _map;
    private readonly RegionServer _server;

    private NodeTerm(NodeParts parts, RegionMap map, RegionServer server, Incarnation incarnation)
    {
        (_parts, _map, _server) = (parts, map, server);
        Incarnation = incarnation;
    }

    public Incarnation Incarnation { get; }

    public static NodeTerm Begin(NodeParts parts, SalusLog log, NodeLease lease, Incarnation incarnation)
    {
        var map = new RegionMap(log.Map, lease, incarnation);
        var logger = parts.Start.Loggers.CreateLogger<RegionServer>();
        var self = new ServerIdentity(new StoreId(parts.Start.Id.Value), new Signer(incarnation));
        var recovery = new RegionRecovery(self.Store, self.Signer, parts.Store.Log, parts.Store.Files, parts.Bodies,
            map, parts.Transport, new RecoveryTimes(parts.Start.Time, LoopContext.Pool, new RecoveryOptions()));
        var server = new RegionServer(self, parts.Store.Log, map, recovery, parts.Transport, parts.Start.Time,
            LoopContext.Pool, new RegionServerOptions());
        var term = new NodeTerm(parts, map, server, incarnation);
        server.Broken += (region, error) => SalusHostingLog.Broken(logger, region.ToString(), error);
        // Before the first request: the server answers from its first moment on.
        server.Start();
        parts.Start.Beside.Add(server);
        return term;
    }

    /// <summary>Regions that the term has, and those of them that are being recovered.</summary>
    public (int Member, int Recovering) Regions => (_server.Regions, _server.Recovering);

    /// <summary>Whether a server of the term has the region, or has not let go of it yet.</summary>
    public bool Has(RegionKey region) => _server.Has(region);

    public async ValueTask DisposeAsync()
    {
        _parts.Start.Beside.Remove(_server.Id);
        await _server.DisposeAsync();
        _map.Dispose();
    }
}
