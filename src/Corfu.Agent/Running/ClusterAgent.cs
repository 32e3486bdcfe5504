using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Agent;

/// <summary>
/// The cluster agent of one process: looks at every node, tells other agents what it holds of them, and reconfigures when a node is gone.
/// Any number of agents may act at once: the layout decides one successor per epoch. It serves a role of its own, which its process registers.
/// </summary>
public sealed partial class ClusterAgent : IRoleHandler
{
    private readonly AgentOptions _options;
    private readonly ITransport _probes;
    private readonly ITransport _transport;
    private readonly LayoutClient _layout;
    private readonly Reconfigurer _reconfigurer;
    private readonly TimeProvider _time;
    private readonly IEntropy _entropy;
    private readonly ILogger _logger;
    private readonly long _started;
    private readonly Lock _gate = new();

    // All guarded by _gate. Sorted, so that nothing depends on how keys hash.
    private readonly DetectorCore _detector;
    private readonly PolicyCore _policy;
    private readonly SortedDictionary<NodeEndpoint, Peer> _peers = [];
    private readonly SortedDictionary<NodeId, Subject> _subjects = [];
    private readonly Dictionary<NodeId, NodeHealth> _reported = [];
    private Projection? _projection;
    private Automation _automation;
    private string _note = "";
    private bool _subjectsAreStale = true;

    // Cancelled when the agent stops; set once by RunAsync.
    private CancellationToken _stopped;

    /// <param name="probes">For looks at nodes: with short time-outs, so that a dead connection is given up soon.</param>
    /// <param name="transport">For everything else. Both stay the caller's.</param>
    public ClusterAgent(
        AgentOptions options, ITransport probes, ITransport transport, TimeProvider time, IEntropy entropy, ILogger? logger = null,
        ReconfigurerOptions? reconfiguration = null)
    {
        options.Validate();
        _options = options;
        _probes = probes;
        _transport = transport;
        _time = time;
        _entropy = entropy;
        _logger = logger ?? NullLogger.Instance;
        _layout = new LayoutClient(transport, entropy, time);
        _reconfigurer = new Reconfigurer(transport, _layout, time, _logger, reconfiguration);
        _detector = new DetectorCore(options.Detector);
        _policy = new PolicyCore(options.Policy);
        _automation = options.Automation ?? new Automation(0, options.Automatic);
        _started = time.GetTimestamp();
        Id = new NodeId(entropy.NewGuid());
        Meet(options.Self);
        foreach (var peer in options.Peers) Meet(peer);
    }

    public NodeRole Role => NodeRole.Agent;

    /// <summary>New with every start: an agent keeps nothing.</summary>
    public NodeId Id { get; }

    /// <summary>The newest projection that it knows.</summary>
    public Projection? Projection
    {
        get
        {
            lock (_gate) return _projection;
        }
    }

    private TimeSpan Now => _time.GetElapsedTime(_started);

    private NodeAddress Self => new(Id, _options.Self);

    /// <summary>Runs until it is cancelled, and ends then without an exception.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        _stopped = cancellationToken;
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                Step();
                await Task.Delay(_options.Step, _time, cancellationToken);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                break;
            }
            catch (Exception e) when (e is CorfuException or InvalidOperationException)
            {
                AgentLog.LoopFailed(_logger, e);
                await Task.Yield();
            }
        }

        await EndActionAsync();
        await EndUpkeepAsync();
    }

    /// <summary>Tells the others that this process goes in good order, so that nobody takes it for dead. Best effort, bounded by the probe time-out.</summary>
    public async Task LeaveAsync()
    {
        List<Task> calls = [];
        foreach (var agent in OtherAgents()) calls.Add(TellAsync(agent, new PingRequest(EpochNow(), Self, true, AutomationNow())));
        await Task.WhenAll(calls);
    }

    private void Step()
    {
        List<Peer> toDescribe = [];
        List<Subject> toLook = [];
        List<Subject> toGreet = [];
        lock (_gate)
        {
            var now = Now;
            _detector.Tick(now);
            if (_subjectsAreStale) ChooseSubjects(now);
            foreach (var peer in _peers.Values)
            {
                if (peer.IsDescribing || now < peer.NextDescribe) continue;
                peer.IsDescribing = true;
                toDescribe.Add(peer);
            }

            foreach (var subject in _subjects.Values)
            {
                if (subject.IsLooking || now < subject.NextLook) continue;
                subject.IsLooking = true;
                toLook.Add(subject);
                if (subject.Role == NodeRole.Agent || now < subject.NextGreeting || VerdictOf(subject, now).Health != NodeHealth.Alive) continue;
                subject.NextGreeting = now + _options.GreetingInterval;
                toGreet.Add(subject);
            }
        }

        foreach (var peer in toDescribe) _ = DescribeAsync(peer);
        foreach (var subject in toLook) _ = LookAsync(subject);
        foreach (var subject in toGreet) _ = GreetAsync(subject);
        RefreshIfDue();
        Consider();
        ConsiderUpkeep();
    }

    private Epoch EpochNow()
    {
        lock (_gate) return _projection?.Epoch ?? Epoch.None;
    }

    private Automation AutomationNow()
    {
        lock (_gate) return _automation;
    }

    /// <summary>Agents of other processes, in the order of their endpoints.</summary>
    private List<NodeAddress> OtherAgents()
    {
        lock (_gate)
        {
            return [.. from peer in _peers.Values
                       where peer.Endpoint != _options.Self && !peer.Agent.IsNone
                       select new NodeAddress(peer.Agent, peer.Endpoint)];
        }
    }

    private Task GreetAsync(Subject subject) => subject.Role switch
    {
        NodeRole.Unit => TellAsync(_transport, subject.Address, new UnitInfoRequest(EpochNow())),
        NodeRole.Sequencer => TellAsync(_transport, subject.Address, new SequencerInfoRequest(EpochNow())),
        _ => TellAsync(_transport, subject.Address, new LatestRequest(EpochNow())),
    };

    private Task TellAsync<TResponse>(NodeAddress to, Request<TResponse> request)
        where TResponse : Response => TellAsync(_probes, to, request);

    private async Task TellAsync<TResponse>(ITransport way, NodeAddress to, Request<TResponse> request)
        where TResponse : Response
    {
        using var timeout = new CancellationTokenSource(_options.ProbeTimeout, _time);
        try
        {
            await way.CallAsync(to, request, timeout.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            // Whoever does not hear it finds out.
        }
    }
}
