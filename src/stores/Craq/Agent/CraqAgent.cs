using Corfu.Detection;
using Craq.Coordination;
using Microsoft.Extensions.Logging;

namespace Craq.Agent;

/// <summary>The agent of a node: probes the nodes that share chains with it, and proposes what
/// <see cref="ChainPolicy"/> decides. Every node has one; the directory lets one proposal win. All of it runs on one
/// loop.</summary>
internal sealed partial class CraqAgent : IAsyncDisposable
{
    private static readonly TimeSpan s_disagreement = TimeSpan.FromSeconds(5);

    private readonly NodeId _self;
    private readonly IChainDirectory _directory;
    private readonly INodeRegistry _registry;
    private readonly ITransport _transport;
    private readonly ITransport _probes;
    private readonly ILearners _learners;
    private readonly CraqAgentOptions _options;
    private readonly ILogger _logger;
    private readonly AgentClock _clock;
    private readonly AgentLoop _loop;
    private readonly ChainPolicy _policy;
    private readonly DetectorCore _detector;
    private readonly ChangeBudget _budget;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _running;

    // By the loop alone, as the next five.
    private readonly Dictionary<NodeId, NodeEndpoint> _watched = [];
    private readonly HashSet<NodeId> _probing = [];

    // Probes under way.
    private readonly Dictionary<NodeId, Task<ProbeSample>> _probed = [];

    // Chains of a proposal under way, and when the next one may be made.
    private readonly Dictionary<ChainId, TimeSpan> _pausedChains = [];

    // Suspicions that other agents did not share, and when they are raised again.
    private readonly Dictionary<NodeId, TimeSpan> _pausedNodes = [];

    // Nodes that this agent does not reach and others do, and since when.
    private readonly Dictionary<NodeId, TimeSpan> _cutOff = [];

    public CraqAgent(NodeId self, CraqAgentParts parts, CraqAgentOptions options, TimeProvider time, LoopContext? loops,
        ILogger logger)
    {
        _self = self;
        (_directory, _registry, _transport, _probes, _learners) =
            (parts.Directory, parts.Registry, parts.Transport, parts.Probes, parts.Learners);
        (_options, _logger) = (options, logger);
        _clock = new AgentClock(time);
        _loop = new AgentLoop(_clock, logger, loops);
        _policy = new ChainPolicy(self, options);
        _detector = new DetectorCore(options.Detector);
        _budget = new ChangeBudget(options.Removals, options.RemovalRefill);
        _running = _loop.Run(StepsAsync);
    }

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _running;
    }

    private async Task StepsAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                Step();
                await Task.Delay(_options.Detector.Interval, _clock.Time, _stop.Token);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e)
            {
                LogStepFailed(e);
                await Task.Delay(_options.Detector.Interval, _clock.Time, CancellationToken.None);
            }
        }
    }

    private void Step()
    {
        var now = _clock.Now;
        _policy.Observe(_directory.View, now);
        Watch(now);
        _detector.Tick(now);
        foreach (var (node, endpoint) in _watched)
        {
            if (_probing.Add(node)) _loop.Start(() => ProbeAsync(new NodeAddress(node, endpoint)));
        }

        Decide(now);
        _learners.Learn([.. _policy.Wanted(now, _learners.Chains).Select(
            chain => new LearnedChain(chain.Config.Id, _policy.IndexFor(chain.Config, now)))]);
    }

    private void Decide(TimeSpan now)
    {
        foreach (var action in _policy.Decide(now, node => Judge(node, now)))
        {
            if (_pausedChains.TryGetValue(action.Config.Id, out var until) && now < until) continue;
            _pausedChains[action.Config.Id] = TimeSpan.MaxValue;
            _loop.Start(() => ActAsync(action));
        }
    }

    private void Watch(TimeSpan now)
    {
        var peers = _policy.Peers();
        foreach (var node in _watched.Keys.Where(node => peers.All(peer => peer.Id != node)).ToArray())
        {
            _watched.Remove(node);
            _detector.Forget(node);
        }

        foreach (var peer in peers)
        {
            _watched[peer.Id] = peer.Endpoint;
            _detector.Watch(new NodeAddress(peer.Id, peer.Endpoint), CraqRole.Role, now, mayReturn: true);
        }

        foreach (var node in _cutOff.Keys.Where(node => !_detector.Judge(node, now).IsGone).ToArray())
            _cutOff.Remove(node);
        foreach (var chain in _pausedChains.Where(chain => chain.Value <= now).Select(chain => chain.Key).ToArray())
            _pausedChains.Remove(chain);
    }

    private NodeVerdict Judge(NodeId node, TimeSpan now)
    {
        if (_pausedNodes.TryGetValue(node, out var until))
        {
            if (now < until) return default;
            _pausedNodes.Remove(node);
        }

        return _detector.Judge(node, now);
    }

    // A node that does not answer is probed again and again until the verdict is clear, and then acted upon at once:
    // writes wait for it.
    private async Task ProbeAsync(NodeAddress node)
    {
        var wasGone = _detector.Judge(node.Id, _clock.Now).IsGone;
        var isGone = false;
        try
        {
            while (true)
            {
                var sample = await ProbeOnceAsync(node);
                isGone = _detector.Judge(node.Id, _clock.Now).IsGone;
                if (sample.IsSignOfLife || isGone || !_watched.ContainsKey(node.Id)) break;
                await Task.Delay(_options.Step, _clock.Time, _stop.Token);
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            return;
        }
        finally
        {
            _probing.Remove(node.Id);
        }

        if (isGone && !wasGone) Decide(_clock.Now);
    }

    // A second caller gets the sample of the probe that is under way.
    private async Task<ProbeSample> ProbeOnceAsync(NodeAddress node)
    {
        if (_probed.TryGetValue(node.Id, out var probed)) return await probed;
        _probed[node.Id] = probed = SendProbeAsync(node);
        try
        {
            var sample = await probed;
            _detector.Record(node.Id, sample, _clock.Now);
            return sample;
        }
        finally
        {
            _probed.Remove(node.Id);
        }
    }

    private async Task<ProbeSample> SendProbeAsync(NodeAddress node)
    {
        var began = _clock.Now;
        using var limit = new CancellationTokenSource(_options.ProbeLimit, _clock.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, _stop.Token);
        try
        {
            var answer = await _probes.CallAsync(
                node, new PingNodeRequest(Epoch.None, NodeId.None), either.Token);
            return ProbeSample.Of(answer.Status, _clock.Now - began);
        }
        catch (TransportException e)
        {
            return ProbeSample.Of(e.Fault, _clock.Now - began);
        }
        catch (OperationCanceledException)
        {
            return new ProbeSample(_stop.IsCancellationRequested ? ProbeOutcome.None : ProbeOutcome.Nothing,
                _clock.Now - began);
        }
    }

    private async Task ActAsync(ChainAction action)
    {
        var chain = action.Config.Id;
        try
        {
            await TryActAsync(action);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            // The log is away, or the outcome is unknown: the next state of the directory tells.
            if (!_stop.IsCancellationRequested) LogFailed(action.Config.Name, e);
        }
        finally
        {
            _pausedChains[chain] = _clock.Now + _options.Retry;
        }
    }

    private async Task TryActAsync(ChainAction action)
    {
        var (chain, epoch) = (action.Config.Id, action.Config.Epoch);
        if (await ReviewAsync(action) is not { } reviewed) return;
        switch (reviewed)
        {
            case ChainAction.Evict evict:
                if (await _registry.EvictAsync(evict.Node, _stop.Token) is { } why)
                    LogRefused(action.Config.Name, why);
                return;
            case ChainAction.RemoveGone remove:
                LogRemoves(action.Config.Name, remove.Node);
                Tell(await _directory.TryChangeAsync(
                    chain, epoch, new ChainChange.Remove([remove.Node]), _stop.Token), action);
                return;
            case ChainAction.Withdraw withdraw:
                LogWithdraws(action.Config.Name, withdraw.Node);
                Tell(await _directory.TryChangeAsync(
                    chain, epoch, new ChainChange.Remove([withdraw.Node]), _stop.Token), action);
                return;
            case ChainAction.Leave:
                if (action.Config.Options.Reads == EpochProof.Leased
                    && !await _registry.ReleaseAsync(action.Config, _stop.Token)) return;
                Tell(await _directory.TryChangeAsync(
                    chain, epoch, new ChainChange.Remove([_self]), _stop.Token), action);
                return;
        }
    }

    // The proposer tells the members at once: they follow the directory with a delay.
    private void Tell(ChangeOutcome outcome, ChainAction action)
    {
        if (!outcome.IsRecorded) LogRefused(action.Config.Name, outcome.Refusal!);
        else InstallCall.Tell(_transport, _directory.View, outcome.Config!, _clock.Time, _stop.Token);
    }

    [LoggerMessage(1, LogLevel.Warning, "Chain {Chain} goes on without {Node}, which is gone")]
    private partial void LogRemoves(string chain, NodeId node);

    [LoggerMessage(2, LogLevel.Information, "Chain {Chain} was not changed: {Why}")]
    private partial void LogRefused(string chain, string why);

    [LoggerMessage(5, LogLevel.Warning,
        "Chain {Chain} goes on without {Node}, its newest member: the epoch has not opened, and the node learns again")]
    private partial void LogWithdraws(string chain, NodeId node);

    [LoggerMessage(6, LogLevel.Warning,
        "Chain {Chain} goes on without this node or {Node}: they do not reach each other, and others reach both; look "
        + "at the network between them")]
    private partial void LogCuts(string chain, NodeId node);

    [LoggerMessage(4, LogLevel.Error, "A step of the agent failed; the next one goes on")]
    private partial void LogStepFailed(Exception error);

    [LoggerMessage(3, LogLevel.Warning, "A change of chain {Chain} has failed; it is looked at again")]
    private partial void LogFailed(string chain, Exception error);
}

/// <summary>The parts that an agent works with.</summary>
internal sealed record CraqAgentParts(
    IChainDirectory Directory, INodeRegistry Registry, ITransport Transport, ILearners Learners)
{
    /// <summary>Connections for probes: a node that failed a moment ago is not held off for long.</summary>
    public ITransport Probes { get; init; } = Transport;
}
