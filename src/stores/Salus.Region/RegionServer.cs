using Salus.Region.Recovery;

namespace Salus.Region;

/// <summary>The region servers of one process, as a role: every region that its store has a part of, in the generations
/// that name it a member. Has no thread and no clock of its own.</summary>
public sealed class RegionServer : IRoleHandler, IStoreObserver, IAsyncDisposable
{
    private readonly StoreLog _log;

    /// <param name="self">The store and the incarnation, as the book has them.</param>
    public RegionServer(ServerIdentity self, StoreLog log, IRegionMap map, IRegionRecovery recovery,
        ITransport transport, TimeProvider time, LoopContext loops, RegionServerOptions options)
    {
        RegionServerOptions.Rules.Check(options);
        Id = new NodeId(self.Signer.Incarnation.Value);
        _log = log;
        _ = (map, recovery, transport, time, loops);
    }

    public NodeRole Role => SalusRoles.RegionServer;

    public NodeId Id { get; }

    /// <summary>Begins to follow the map. The server is the log's observer from now on.</summary>
    public void Start() => _log.Observer = this;

    public void Handle(Request request, ReplyTo reply) => reply.Send(request.Fail(Status.Unsupported, Epoch.None));

    public void OnDurable(long lsn)
    {
    }

    public void OnFailed(StoreFailedException error)
    {
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}

/// <summary>A process as a member of regions.</summary>
public sealed record ServerIdentity(StoreId Store, Signer Signer);
