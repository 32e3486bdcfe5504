using System.Collections.Concurrent;
using Salus.Region.Core;
using Salus.Region.Recovery;

namespace Salus.Region;

/// <summary>The region servers of one process, as a role: every region that its store has a part of, in the generations
/// that name this process a member. Has no thread and no clock of its own.</summary>
public sealed class RegionServer : IRoleHandler, IStoreObserver, IAsyncDisposable
{
    private const long TicksForAll = 50;

    private readonly RegionServices _services;
    private readonly IRegionRecovery _recovery;
    private readonly CancellationTokenSource _stop = new();

    // Read by any thread, changed by the loop that follows the map.
    private readonly ConcurrentDictionary<RegionKey, ServedRegion> _regions = new();

    // Volumes whose states have changed since the loop looked; the default stands for all.
    private readonly ConcurrentDictionary<VolumeId, bool> _changed = new();
    private readonly SemaphoreSlim _signal = new(0);
    private Task _loops = Task.CompletedTask;
    private volatile bool _hasFailed;

    /// <param name="self">The store and the incarnation, as the book has them.</param>
    public RegionServer(ServerIdentity self, StoreLog log, IRegionMap map, IRegionRecovery recovery,
        ITransport transport, TimeProvider time, LoopContext loops, RegionServerOptions options)
    {
        RegionServerOptions.Rules.Check(options);
        Id = new NodeId(self.Signer.Incarnation.Value);
        _recovery = recovery;
        _services = new RegionServices(
            self, log, map, transport, time, loops, options, new RegionMemory(options.BatchMemory));
    }

    /// <summary>A region goes on no longer at this process in its generation, and answers
    /// <see cref="Status.Failed"/> until it is replaced. Any thread.</summary>
    public event Action<RegionKey, Exception>? Broken
    {
        add => _services.Broken += value;
        remove => _services.Broken -= value;
    }

    internal IEnumerable<RegionCore> Cores => _regions.Values.Select(static region => region.Core).OfType<RegionCore>();

    public NodeRole Role => SalusRoles.RegionServer;

    public NodeId Id { get; }

    /// <summary>Whether a server of the region is here that has not ended. Any thread.</summary>
    public bool Has(RegionKey region) => _regions.TryGetValue(region, out var served) && !served.HasEnded;

    /// <summary>Regions of which this process is a member. Any thread.</summary>
    public int Regions => _regions.Values.Count(static region => !region.HasEnded);

    /// <summary>Regions of those that answer nothing yet: they are being recovered. Any thread.</summary>
    public int Recovering => _regions.Values.Count(static region => !region.HasEnded && region.Core is null);

    /// <summary>Begins to follow the map. The server is the log's observer from now on.</summary>
    public void Start()
    {
        _services.Log.Observer = this;
        _services.Map.Changed += OnChanged;
        OnChanged(default);
        _loops = Task.WhenAll(_services.Loops.RunAsync(FollowAsync), _services.Loops.RunAsync(TickAsync));
    }

    public void Handle(Request request, ReplyTo reply)
    {
        if (KeyOf(request) is not { } key)
        {
            reply.Send(request.Fail(Status.Unsupported, Epoch.None));
        }
        else if (_hasFailed)
        {
            reply.Send(request.Fail(Status.Failed, request.Epoch));
        }
        else if (request is AdoptRequest adopt)
        {
            _recovery.Adopt(adopt, reply);
        }
        else if (_regions.TryGetValue(key, out var region) && region.Core is { } core)
        {
            core.Handle(ToOwned(request), reply);
        }
        else
        {
            // A member whose recovery has no room says so: the agent gives it up.
            var status = Served(key);
            var lacksRoom = status == SalusStatus.Pending && request is RegionStatusRequest && _services.Log.IsFull;
            reply.Send(request.Fail(lacksRoom ? Status.NoSpace : status, request.Epoch));
        }
    }

    public void OnDurable(long lsn)
    {
        foreach (var region in _regions.Values)
        {
            if (region.Core is { IsBusy: true } core) core.OnDurable(lsn);
        }
    }

    public void OnFailed(StoreFailedException error)
    {
        _hasFailed = true;
        foreach (var region in _regions.Values)
        {
            if (region.Core is { } core) _services.Loops.Start(() => core.EndAsync(Status.Failed));
        }
    }

    public async ValueTask DisposeAsync()
    {
        _services.Map.Changed -= OnChanged;
        _stop.Cancel();
        await _loops;
        foreach (var region in _regions.Values) await region.EndAsync();
        _signal.Dispose();
        _stop.Dispose();
    }

    private static RegionKey? KeyOf(Request request) => request switch
    {
        PutBatchRequest put => put.Region,
        ForwardRequest forward => forward.Head.Region,
        PreparedRequest prepared => prepared.Region,
        VoteRequest vote => vote.Leader,
        ConfirmRequest confirm => confirm.Leader,
        DecideRequest decide => decide.Leader,
        CommitRequest commit => commit.Region,
        GetRequest get => get.Region,
        ReadTreeRequest read => read.Region,
        RegionStatusRequest status => status.Region,
        FenceRequest fence => fence.Region,
        AdoptRequest adopt => adopt.Region,
        ReleaseRequest release => release.Region,
        CheckpointedRequest checkpointed => checkpointed.Region,
        CutRequest cut => cut.Region,
        RegionHistoryRequest history => history.Region,
        _ => null,
    };

    // The request's memory is the connection's.
    private static Request ToOwned(Request request) => request switch
    {
        PutBatchRequest put => put with { Batch = put.Batch.ToArray() },
        ForwardRequest forward => forward with { Content = forward.Content.ToArray() },
        _ => request,
    };

    // A request for a region without a core: a member that is getting ready is asked again.
    private Status Served(RegionKey key) =>
        _services.Map.Find(key.Volume)?.Regions.GetValueOrDefault(key.Region)?.Current.Find(Self) is not null
            ? SalusStatus.Pending
            : SalusStatus.WrongMember;

    private Incarnation Self => _services.Self.Signer.Incarnation;

    private void OnChanged(VolumeId volume)
    {
        _changed[volume] = true;
        if (_signal.CurrentCount == 0) _signal.Release();
    }

    private async Task FollowAsync()
    {
        try
        {
            while (true)
            {
                await _signal.WaitAsync(_stop.Token);
                foreach (var volume in _changed.Keys)
                {
                    _changed.TryRemove(volume, out _);
                    if (volume != default) Follow(volume);
                    else foreach (var one in _services.Map.Volumes) Follow(one);
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The server ends.
        }
    }

    private void Follow(VolumeId volume)
    {
        var state = _services.Map.Find(volume);
        if (state?.Head.Geometry is { } geometry)
        {
            foreach (var (region, known) in state.Regions)
            {
                var isMember = known.Current.Find(Self) is not null;
                var key = new RegionKey(volume, region);
                if (isMember) _regions.GetOrAdd(key, NewRegion).Follow(known.Current, geometry);
                else Leave(key);
            }
        }

        foreach (var (key, region) in _regions)
        {
            if (key.Volume != volume) continue;
            if (state is null) Leave(key);
            else region.Core?.Wake();
        }
    }

    private ServedRegion NewRegion(RegionKey key) => new(_services, key, _recovery);

    private void Leave(RegionKey key)
    {
        if (_regions.TryGetValue(key, out var region)) _services.Loops.Start(region.EndAsync);
    }

    private async Task TickAsync()
    {
        try
        {
            for (var tick = 1L; ; tick++)
            {
                await Task.Delay(_services.Options.Tick, _services.Time, _stop.Token);
                // Idle regions now and then: the memory and the log that they hold may be wanted.
                var isForAll = tick % TicksForAll == 0;
                foreach (var region in _regions.Values)
                {
                    if (region.Core is { } core && (core.IsBusy || isForAll)) core.Wake();
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The server ends.
        }
    }
}
