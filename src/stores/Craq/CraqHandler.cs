using Craq.Chains;
using Craq.Coordination;
using Craq.Storage;

namespace Craq;

/// <summary>A CRAQ node as a role of a process: one short lock around the chains, answers that wait in them, and
/// requests to other nodes and reads of values outside the lock. It has no thread and no clock of its own, so the
/// simulator runs it as it is.</summary>
internal sealed partial class CraqHandler : IRoleHandler, INodeStoreObserver, IAsyncDisposable
{
    private readonly INodeStore _store;
    private readonly IChainDirectory _directory;
    private readonly ITransport _transport;
    private readonly TimeProvider _time;
    private readonly CraqNodeOptions _options;
    private readonly NodeBudget _budget;
    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource<Exception> _fault = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Requests of other parts of the node, by their opcode. Set before the first request.
    private readonly Dictionary<Opcode, Action<Request, ReplyTo>> _others = [];

    // Guards the chains, the store's synchronous side and the fields below.
    private readonly Lock _gate = new();
    private readonly Dictionary<ChainId, ChainCore> _chains = [];
    private readonly HashSet<ChainId> _active = [];
    private readonly HashSet<ChainId> _opening = [];

    // Chains with requests that wait for a round to start.
    private readonly HashSet<ChainCore> _starting = [];

    // Records that wait for durability, in the order of the log.
    private readonly Queue<(long Lsn, ChainId Chain)> _undurable = new();
    private bool _mustCommit;
    private volatile bool _failed;

    internal CraqHandler(NodeId id, INodeStore store, IChainDirectory directory, ITransport transport,
        TimeProvider time, CraqNodeOptions options)
    {
        Id = id;
        _store = store;
        _directory = directory;
        _transport = transport;
        _time = time;
        _options = options;
        _budget = new NodeBudget(options);
    }

    public NodeRole Role => CraqRole.Role;

    public NodeId Id { get; }

    public int MaxWaiting => _options.MaxWaiting;

    /// <summary>Completes, with the reason, when the store has failed: from then on everything is answered with
    /// <see cref="Status.Failed"/>.</summary>
    public Task<Exception> Fault => _fault.Task;

    /// <summary>Requests of that opcode go there. Before the handler is registered.</summary>
    internal void Route(Opcode opcode, Action<Request, ReplyTo> handle) => _others.Add(opcode, handle);

    /// <summary>Takes locks whose transactions get no outcome from their lead. Before the handler is
    /// registered.</summary>
    internal Action<ExpiredLock>? Resolve { get; set; }

    /// <summary>Cancelled when the node ends.</summary>
    internal CancellationToken Stopping => _stop.Token;

    /// <summary>The newest config of a chain that this node knows, held here or not; null: none.</summary>
    internal ChainView? FindView(ChainId chain)
    {
        lock (_gate) return Newest(chain);
    }

    /// <summary>A request that waits at this node for others; false: there are too many.</summary>
    internal bool TryWait()
    {
        lock (_gate)
        {
            if (_failed || !_budget.HasPlace) return false;
            _budget.Waiting++;
            return true;
        }
    }

    internal void EndWait()
    {
        lock (_gate) _budget.Waiting--;
    }

    /// <summary>Looks at a chain; nothing may change. The default: the node does not hold it.</summary>
    internal T? Look<T>(ChainId chain, Func<ChainCore, T> look)
    {
        lock (_gate) return _chains.TryGetValue(chain, out var core) ? look(core) : default;
    }

    /// <summary>A short step with a chain, between requests; false: there is none.</summary>
    internal bool WithChain(ChainId chain, Action<ChainCore, ChainEffects> step)
    {
        ChainEffects effects;
        lock (_gate)
        {
            if (_failed || !_chains.TryGetValue(chain, out var core)) return false;
            effects = Effects();
            try
            {
                step(core, effects);
                core.StartRound(effects);
            }
            finally
            {
                End(core, effects);
            }

            CommitNow();
        }

        Carry(effects);
        return true;
    }

    public void Handle(Request request, ReplyTo reply)
    {
        if (_others.TryGetValue(request.Opcode, out var other))
        {
            other(request, reply);
            return;
        }

        ChainEffects effects;
        try
        {
            lock (_gate)
            {
                effects = Effects();
                if (_failed) effects.Answer(reply, request.Fail(Status.Failed, Epoch.None));
                else Take(request, reply, effects);
                Settle(effects);
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or StoreFailedException)
        {
            OnFailed(failure);
            reply.Send(request.Fail(Status.Failed, Epoch.None));
            return;
        }

        Carry(effects);
    }

    /// <summary>Commits once for everything that arrived together, and starts one round in each chain.</summary>
    public void BatchEnd()
    {
        ChainEffects? effects = null;
        try
        {
            lock (_gate)
            {
                if (_starting.Count > 0 && !_failed)
                {
                    effects = Effects();
                    foreach (var core in _starting) core.StartRound(effects);
                    _starting.Clear();
                }

                CommitNow();
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or StoreFailedException)
        {
            OnFailed(failure);
            return;
        }

        if (effects is not null) Carry(effects);
    }

    public void OnDurable(long lsn)
    {
        ChainEffects effects;
        try
        {
            lock (_gate)
            {
                if (_failed) return;
                effects = Effects();
                Release(lsn, effects);
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or StoreFailedException)
        {
            OnFailed(failure);
            return;
        }

        Carry(effects);
    }

    public void OnFailed(Exception error)
    {
        ChainEffects effects;
        lock (_gate)
        {
            if (_failed) return;
            _failed = true;
            effects = Effects();
            foreach (var core in _chains.Values) core.Fail(error.Message, effects);
        }

        // The outcome of these requests is unknown: their records may or may not be on disk.
        foreach (var (to, response) in effects.Answers) to.Send(response);
        _fault.TrySetResult(error);
    }

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _loops;
        await _store.AttachAsync(null);
        OnFailed(new ObjectDisposedException(nameof(CraqHandler)));
        await _store.DisposeAsync();
        _stop.Dispose();
    }

    private void Take(Request request, ReplyTo reply, ChainEffects effects)
    {
        try
        {
            switch (request)
            {
                case ReadObjectsRequest read when Find(read.Chain) is { } core:
                    core.Read(read, reply, effects);
                    End(core, effects);
                    break;
                case MutateRequest mutate when Find(mutate.Chain) is { } core:
                    var missing = core.Mutate(mutate, reply, null, effects);
                    End(core, effects);
                    if (missing.Count > 0) Load(mutate, reply, missing, effects);
                    break;
                case PreparePartRequest prepare when Find(prepare.Part.Chain) is { } core:
                    var needed = core.Prepare(prepare, reply, null, effects);
                    End(core, effects);
                    if (needed.Count > 0) Load(prepare, reply, needed, effects);
                    break;
                case SettlePartRequest settle when Find(settle.Chain) is { } core:
                    core.Settle(settle, reply, effects);
                    End(core, effects);
                    break;
                case InstallChainRequest install:
                    Install(install, reply, effects);
                    break;
                case ConfirmRequest confirm:
                    CraqTelemetry.Confirmations.Add(1);
                    effects.Answer(reply, new ConfirmResponse(Status.Ok, confirm.Epoch)
                    {
                        Chains = [.. confirm.Chains.Select(
                            chain => Find(chain.Chain)?.Confirm(chain.Epoch) ?? default)],
                    });
                    break;
                case ChainsRequest chains:
                    effects.Answer(reply, Describe(chains));
                    break;
                default:
                    if (!TryTakeOfMember(request, reply, effects)) effects.Answer(reply, Unknown(request));
                    break;
            }
        }
        catch (MalformedDataException)
        {
            // Records before the damaged one are in the log.
            Enqueue(effects);
            effects.Answer(reply, request.Fail(Status.BadRequest, Epoch.None));
        }
    }

    // Records, values and marks. False: the request is another one, or its chain is unknown.
    private bool TryTakeOfMember(Request request, ReplyTo reply, ChainEffects effects)
    {
        switch (request)
        {
            case ReplicateRequest replicate when Find(replicate.Chain) is { } core:
                core.Replicate(replicate, reply, effects);
                End(core, effects);
                return true;
            case ValuesRequest values when Find(values.Chain) is { } core:
                core.Values(values, reply, effects);
                End(core, effects);
                return true;
            case MarkedRequest marked when Find(marked.Chain) is { } core:
                core.Marked(marked, reply, effects);
                End(core, effects);
                return true;
            case FetchRequest fetch when Find(fetch.Chain) is { } core:
                core.Fetch(fetch, reply, effects);
                return true;
            default:
                return false;
        }
    }

    private ChainCore? Find(ChainId chain) => _chains.GetValueOrDefault(chain);

    // The node holds nothing of the chain: the directory may know who does.
    private Response Unknown(Request request)
    {
        var chain = request switch
        {
            ReadObjectsRequest read => read.Chain,
            MutateRequest mutate => mutate.Chain,
            PreparePartRequest prepare => prepare.Part.Chain,
            SettlePartRequest settle => settle.Chain,
            ReplicateRequest or FetchRequest or ValuesRequest or MarkedRequest => ChainId.None,
            _ => (ChainId?)null,
        };
        if (chain is null) return request.Fail(Status.Unsupported, Epoch.None);
        if (chain.Value.IsNone) return request.Fail(Status.NotInstalled, Epoch.None);
        var view = ViewOf(chain.Value);
        var status = view is null ? CraqStatus.NotFound : CraqStatus.WrongRole;
        var epoch = view?.Config.Epoch ?? Epoch.None;
        return request switch
        {
            ReadObjectsRequest => new ReadObjectsResponse(status, epoch) { View = view },
            MutateRequest => new MutateResponse(status, epoch) { View = view },
            _ => new PartResponse(status, epoch) { View = view },
        };
    }

    private void Install(InstallChainRequest request, ReplyTo reply, ChainEffects effects)
    {
        var config = request.View.Config;
        var core = Find(config.Id);
        if (core is null && RefusesNew(config) is { } refusal)
        {
            effects.Answer(reply, request.Fail(refusal, Epoch.None));
            return;
        }

        core ??= Add(config.Id);
        core.Install(request, reply, effects);
        End(core, effects);
    }

    // Why the node does not begin to hold the chain by this config; null: it does.
    private Status? RefusesNew(ChainConfig config) => config.IndexOf(Id) < 0 ? CraqStatus.WrongRole
        : _chains.Count >= _options.MaxChains ? Status.Overloaded
        : MayHold(config.Id) ? null
        : CraqStatus.NotFound;

    private ChainCore Add(ChainId chain)
    {
        var core = new ChainCore(chain, Id, _store, _directory, _options, _budget);
        _chains.Add(chain, core);
        return core;
    }

    private ChainsResponse Describe(ChainsRequest request)
    {
        var keyspaces = _directory.View.Keyspaces;
        var named = request.Keyspaces.Where(keyspaces.ContainsKey)
            .Select(name => new KeyspaceView(name, keyspaces[name])).ToImmutableArray();
        var all = request.Chains.IsEmpty && request.Keyspaces.IsEmpty
            ? _chains.Values.Where(core => core.IsFull).Select(core => core.Id)
            : request.Chains.Concat(named.SelectMany(keyspace => keyspace.Chains)).Distinct();
        return new ChainsResponse(Status.Ok, request.Epoch)
        {
            Views = [.. all.Take(ChainsRequest.MaxChains).Select(Newest).OfType<ChainView>()],
            Keyspaces = named,
        };
    }

    private ChainView? Newest(ChainId chain)
    {
        var (held, recorded) = (Find(chain)?.View, ViewOf(chain));
        return recorded is null || held?.Config.Epoch > recorded.Config.Epoch ? held : recorded;
    }

    // The directory's config, with the endpoints of its members.
    private ChainView? ViewOf(ChainId chain) =>
        _directory.View.Chains.TryGetValue(chain, out var config) ? WithEndpoints(config) : null;

    private ChainView WithEndpoints(ChainConfig config)
    {
        var nodes = _directory.View.Nodes;
        return new ChainView(config, [.. config.Members.Select(member =>
            nodes.TryGetValue(member.Node, out var node) ? node.Endpoint : new NodeEndpoint("unknown", 1))]);
    }

    private ChainEffects Effects() => new(new Moment(_time.GetElapsedTime(0).Ticks,
        _time.GetUtcNow().ToUnixTimeMilliseconds()));

    // Every step of a chain ends so: what it appended waits for the store.
    private void End(ChainCore core, ChainEffects effects)
    {
        Enqueue(effects);
        _active.Add(core.Id);
        if (core.HasRoundToStart) _starting.Add(core);
    }

    private void Enqueue(ChainEffects effects)
    {
        foreach (var appended in effects.Appended) _undurable.Enqueue(appended);
        _mustCommit |= effects.Appended.Count > 0;
        effects.Appended.Clear();
    }

    // A store may be durable at once.
    private void Settle(ChainEffects effects)
    {
        if (_undurable.TryPeek(out var next) && next.Lsn <= _store.DurableUntil) Release(_store.DurableUntil, effects);
    }

    private void Release(long lsn, ChainEffects effects)
    {
        while (_undurable.TryPeek(out var next) && next.Lsn <= lsn)
        {
            _undurable.Dequeue();
            if (Find(next.Chain) is not { } core) continue;
            core.OnDurable(lsn, effects);
            core.StartRound(effects);
            End(core, effects);
        }
    }

    private void CommitNow()
    {
        if (!_mustCommit || _failed) return;
        _mustCommit = false;
        _store.Commit();
    }
}
