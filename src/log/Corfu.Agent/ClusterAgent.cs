using Corfu.Client.Layout;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Agent;

/// <summary>The cluster agent of one process: monitors nodes (<see cref="NodeMonitor"/>), reconfigures when one is gone
/// (<see cref="ChangeState"/>), and works in the background (<see cref="Maintenance"/>). Any number of agents may act
/// at once: the layout decides one successor per epoch. It serves a role of its own, which its process
/// registers.</summary>
public sealed class ClusterAgent : IRoleHandler
{
    private const int MaxForeign = 256;
    private static readonly TimeSpan s_reportInterval = TimeSpan.FromSeconds(1);

    private readonly AgentOptions _options;
    private readonly ITransport _probes;
    private readonly AgentClock _clock;
    private readonly AgentLoop _loop;
    private readonly NodeLocations _locations = new();
    private readonly ClusterView _view;
    private readonly Targets _targets;
    private readonly Verdicts _verdicts;
    private readonly NodeMonitor _monitor;
    private readonly AgentOrder _order;
    private readonly SuspicionPoll _suspicions;
    private readonly ChangeState _change;
    private readonly Renewal _renewal;
    private readonly Maintenance _maintenance;
    private readonly Denials _denials;
    private readonly ILogger _logger;

    // Peers that speak for a host which their certificate does not name; each is logged once.
    private readonly HashSet<string> _foreign = [];

    // In ticks of the clock: until then no further client makes this agent read the layout.
    private long _nextRead;

    // Replaced whole by a step.
    private volatile AgentReport? _newest;

    // Cancelled when the agent stops; set once by RunAsync.
    private CancellationToken _stopped;

    /// <param name="probes">Sends probes, with short time-outs, so that a dead connection is given up soon.</param>
    /// <param name="transport">Sends everything else. The caller disposes of both.</param>
    /// <param name="loops">Keeps everything on one thread. Null: the agent has a loop of its own on the thread pool,
    /// and its background jobs run beside that.</param>
    public ClusterAgent(AgentOptions options, ITransport probes, ITransport transport, TimeProvider time,
        IEntropy entropy, ILogger? logger = null, ReconfigurerOptions? reconfiguration = null,
        LoopContext? loops = null)
    {
        options.Validate();
        _options = options;
        _probes = probes;
        Id = new NodeId(entropy.NewGuid());
        logger = _logger = new SafeLogger(logger ?? NullLogger.Instance);
        _denials = new Denials(options, time, logger);
        var beside = loops ?? LoopContext.Pool;
        _clock = new AgentClock(time);
        _loop = new AgentLoop(_clock, logger, loops);

        // The cluster as this agent knows it.
        transport = new RelocatingTransport(transport, _locations.Find);
        var layout = new LayoutClient(transport, entropy, time);
        _view = new ClusterView(options, layout, _clock, logger);
        Gate = new ProjectionGate(() => _view.Projection, ReadFor);
        var reconfigurer = new Reconfigurer(transport, layout, time, logger, reconfiguration);
        _renewal = new Renewal(_view, Acceptors, reconfigurer, options.SuccessorTimeout, _clock, logger);

        // Monitoring.
        _monitor = new NodeMonitor(options.Monitor, Id, _view, _locations, probes, _loop, logger);
        (_targets, _verdicts, var order) = (_monitor.Targets, _monitor.Verdicts, _monitor.Order);
        var installer = new ProjectionInstaller(options, _view, probes, _clock);
        _monitor.AddRole(new UnitRole(probes, _view, installer, _renewal));
        _monitor.AddRole(new SequencerRole(probes, _view, installer));
        _monitor.AddRole(new AcceptorRole(probes, _view));
        _monitor.AddRole(new AgentRole(Self, probes, _view, _targets, _denials));
        foreach (var process in options.Peers.Prepend(options.Self)) _targets.AddProcess(process);

        // Changes.
        _suspicions = _monitor.Suspicions;
        _order = order;
        _change = new ChangeState(options, _view, _verdicts, order, _suspicions, reconfigurer, _clock, logger);

        // Background jobs.
        _maintenance = new Maintenance(options, _view, _verdicts,
            new JobTurns(options, _view, order, probes, _loop, _clock),
            new JobClients(transport, time, entropy, logger, beside),
            new JobRunner(_loop, beside, _view, options.RefreshInterval, _clock, logger), _clock, logger);
    }

    public NodeRole Role => NodeRole.Agent;

    /// <summary>New with every start: an agent keeps nothing.</summary>
    public NodeId Id { get; }

    /// <summary>The newest projection that it knows. Any thread.</summary>
    public Projection? Projection => _view.Projection;

    /// <summary>The last words about the cluster, at most a second old while the agent runs; null before its first
    /// step. Any thread.</summary>
    public AgentReport? Newest => _newest;

    /// <summary>The endpoint at which an identity answered last; null: not known. While a node moves, the projection
    /// names another. Any thread.</summary>
    public NodeEndpoint? Locate(NodeId id) => _locations.Find(id);

    /// <summary>Judges the projections that clients bring to this process.</summary>
    public IRequestGate Gate { get; }

    /// <summary>Certificates revoked before their end.</summary>
    public DenyList Denied => _denials.List;

    /// <summary>The endpoints of the cluster's processes: those that it was told, that the projection names and that
    /// answered. Any thread.</summary>
    public ImmutableArray<NodeEndpoint> Processes =>
    [
        .. _options.Peers.Append(_options.Self)
            .Concat(Projection is { } projection ? EndpointsOf(projection) : [])
            .Concat(_locations.All).Distinct(),
    ];

    private static IEnumerable<NodeEndpoint> EndpointsOf(Projection projection) =>
        projection.Units.Concat(projection.Acceptors).Append(projection.Sequencer).Select(node => node.Endpoint);

    private NodeAddress Self => new(Id, _options.Self);

    /// <summary>Runs until it is cancelled, and ends then without an exception. A step that fails is logged.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        _stopped = cancellationToken;
        AgentGauges.Agents.Add(this);
        await _loop.RunAsync(Step, _options.Step, cancellationToken);
        AgentGauges.Agents.Remove(this);
        await _loop.Run(() => Task.WhenAll(_change.Ended, _renewal.Ended, _maintenance.Ended));
    }

    /// <summary>Watches these processes too, as those of <see cref="AgentOptions.Peers"/>. Any thread.</summary>
    public void AddPeers(ImmutableArray<NodeEndpoint> peers) => _loop.Start(() =>
    {
        foreach (var peer in peers) _targets.AddProcess(peer);
        return Task.CompletedTask;
    });

    /// <summary>Tells the other agents that this process stops in good order, within the probe time-out.</summary>
    public Task LeaveAsync() => _loop.Run(() =>
    {
        var leaving = new PingRequest(_view.Epoch, Self, true, _view.Automation);
        return Task.WhenAll(_targets.Agents.Select(
            agent => _probes.TryCallAsync(agent.Address, leaving, _options.ProbeTimeout, _clock.Time)).ToList());
    });

    /// <inheritdoc />
    public void Handle(Request request, ReplyTo reply) => _loop.Start(() => AnswerAsync(request, reply));

    private async Task AnswerAsync(Request request, ReplyTo reply)
    {
        switch (request)
        {
            case PingRequest ping:
                reply.Send(Answer(ping, reply.Principal));
                break;
            case SuspicionRequest suspicion:
                reply.Send(await _suspicions.AnswerAsync(suspicion, _stopped));
                break;
            case AgentInfoRequest:
                reply.Send(Describe());
                break;
            case LatestRequest:
                // The projection is for recovery when all acceptors are lost: any node may have survived them.
                var known = Projection ?? _options.Remembered;
                reply.Send(new LayoutResponse(Status.Ok, known?.Epoch ?? Epoch.None, null, known));
                break;
            case ProcessInfoRequest when _options.Process is { } process:
                reply.Send(new ProcessInfoResponse(Status.Ok, _view.Epoch, Shown(await process(), reply.Principal)));
                break;
            case SetAutomationRequest set:
                _view.Adopt(set.Automation);
                reply.Send(new AckResponse(Status.Ok, _view.Epoch));
                break;
            case DenyRequest deny:
                reply.Send(new AckResponse(_denials.Deny(deny.Certificates), _view.Epoch));
                break;
            default:
                reply.Send(request.Fail(Status.Unsupported, _view.Epoch));
                break;
        }
    }

    // A client learns nothing of other clients.
    private static ProcessReport Shown(ProcessReport process, Principal to) => to.Role >= AccessRole.Admin
        ? process
        : process with
        {
            Identities = [.. process.Identities.Where(own => own.Name == to.Name && own.Role == to.Role)],
        };

    private TimeSpan Step()
    {
        var next = _monitor.Step(_stopped);
        if (_view.IsRefreshDue) _loop.Start(() => _view.RefreshAsync(Acceptors(), _stopped));
        _change.Step(!_renewal.IsRunning, _stopped);
        if (!_change.IsRunning) _renewal.Step(_order.RankFor(_renewal.At, static _ => false), _change.Gone, _stopped);
        _maintenance.Step(_change.IsRunning, _stopped);
        var now = _clock.Time.GetUtcNow();
        if (_newest is not { } last || now - last.At >= s_reportInterval || now < last.At)
            _newest = new AgentReport(Describe(), now) { Confirmed = _view.Confirmed };
        return next;
    }

    private ImmutableArray<NodeAddress> Acceptors() =>
        [.. from node in _targets.Nodes where node.Role == NodeRole.Acceptor select node.Address];

    private PingResponse Answer(PingRequest ping, Principal peer)
    {
        _view.Hint(ping.Epoch);
        _view.Adopt(ping.Automation);

        // A statement of an agent about itself, or that it leaves, counts for the hosts of its certificate alone.
        if (peer.IsAt(ping.From.Endpoint.Host))
        {
            _targets.RecordPing(ping.From);
            if (ping.Leaving) _verdicts.RecordLeaving(ping.From.Endpoint);
        }
        else if (_foreign.Count < MaxForeign && _foreign.Add(peer.ToString()))
        {
            AgentLog.ForeignAddress(_logger, peer.ToString(), ping.From.Endpoint.ToString());
        }

        return new PingResponse(Status.Ok, _view.Epoch, _view.Automation, [.. _targets.HeardProcesses()])
        {
            Denied = ping.DeniedDigest == _denials.List.Digest ? [] : _denials.List.Entries,
        };
    }

    // Any thread. A client may be wrong about the epoch, or lie: reads that clients cause are bounded.
    private void ReadFor(Epoch epoch)
    {
        var now = _clock.Now.Ticks;
        var next = Interlocked.Read(ref _nextRead);
        if (epoch <= _view.Epoch || now < next) return;
        if (Interlocked.CompareExchange(ref _nextRead, now + _options.ProbeTimeout.Ticks, next) != next) return;
        _loop.Start(() =>
        {
            _view.ReadSoon();
            _loop.StepWithin(TimeSpan.Zero);
            return Task.CompletedTask;
        });
    }

    private AgentInfoResponse Describe()
    {
        var nodes = ImmutableArray.CreateBuilder<NodeReport>();
        nodes.Add(new NodeReport(Self, NodeRole.Agent, NodeDuty.Serving, NodeHealth.Alive, "answers this"));
        foreach (var node in _targets.Nodes.Take(MessageLimits.MaxItems - 1))
        {
            var verdict = _verdicts.Of(node);
            nodes.Add(new NodeReport(node.Address, node.Role, _targets.DutyOf(node), verdict.Health, verdict.Why));
        }

        return new AgentInfoResponse(Status.Ok, _view.Epoch, _view.Automation, _change.Note, nodes.DrainToImmutable(),
            _maintenance.Report());
    }
}

/// <summary>An agent's words about the cluster, and when it said them.</summary>
public sealed record AgentReport(AgentInfoResponse Info, DateTimeOffset At)
{
    /// <summary>When a majority of acceptors last confirmed the projection; null: never since the start.</summary>
    public DateTimeOffset? Confirmed { get; init; }
}
