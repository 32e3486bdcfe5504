using Corfu.Client.Layout;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Agent;

/// <summary>The cluster agent of one process: monitors nodes (<see cref="Monitor"/>), reconfigures when one is gone
/// (<see cref="ChangeState"/>), and works in the background (<see cref="Maintenance"/>). Any number of agents may act
/// at once: the layout decides one successor per epoch. It serves a role of its own, which its process
/// registers.</summary>
public sealed class ClusterAgent : IRoleHandler
{
    private readonly AgentOptions _options;
    private readonly ITransport _probes;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;

    // Guards the state of all parts: an agent does little, and one lock has no order to keep.
    private readonly Lock _gate = new();
    private readonly ClusterView _view;
    private readonly Monitor _monitor;
    private readonly SuspicionPoll _suspicions;
    private readonly ChangeState _change;
    private readonly Maintenance _maintenance;

    // Cancelled when the agent stops; set once by RunAsync.
    private CancellationToken _stopped;

    /// <param name="probes">Sends probes, with short time-outs, so that a dead connection is given up soon.</param>
    /// <param name="transport">Sends everything else. The caller disposes of both.</param>
    /// <param name="loops">As of a <see cref="CorfuClient"/>.</param>
    public ClusterAgent(AgentOptions options, ITransport probes, ITransport transport, TimeProvider time,
        IEntropy entropy, ILogger? logger = null, ReconfigurerOptions? reconfiguration = null,
        LoopContext? loops = null)
    {
        options.Validate();
        _options = options;
        _probes = probes;
        _time = time;
        _logger = new SafeLogger(logger ?? NullLogger.Instance);
        Id = new NodeId(entropy.NewGuid());
        transport = new RelocatingTransport(transport, id => _monitor?.Locate(id));
        var clock = new AgentClock(time);
        var layout = new LayoutClient(transport, entropy, time);
        _view = new ClusterView(_gate, options, layout, clock, _logger);
        var prober = new Prober(Self, probes, _view, time);
        _monitor = new Monitor(_gate, options, Id, _view, prober, probes, time, clock, _logger);
        _suspicions = new SuspicionPoll(_gate, options, _view, _monitor, prober, probes, time, clock, _logger);
        var reconfigurer = new Reconfigurer(transport, layout, time, _logger, reconfiguration);
        _change = new ChangeState(_gate, options, _view, _monitor, _suspicions, reconfigurer, clock, _logger);
        _maintenance = new Maintenance(_gate, options, _view, _monitor, probes, transport, time, clock, entropy,
            _logger, loops);
        lock (_gate)
        {
            foreach (var peer in options.Peers.Prepend(options.Self)) _monitor.AddPeer(peer);
        }

        _monitor.FoundGone = () => _change.Step(_stopped);
        _view.Changed = (before, after) =>
        {
            if (before is not null) _change.Learn(before, after);
            _monitor.Learn(after);
        };
    }

    public NodeRole Role => NodeRole.Agent;

    /// <summary>New with every start: an agent keeps nothing.</summary>
    public NodeId Id { get; }

    /// <summary>The newest projection that it knows.</summary>
    public Projection? Projection => _view.Projection;

    /// <summary>The endpoint at which an identity answered last; null: not known. While a node moves, the projection
    /// names another.</summary>
    public NodeEndpoint? Locate(NodeId id) => _monitor.Locate(id);

    private NodeAddress Self => new(Id, _options.Self);

    /// <summary>Runs until it is cancelled, and ends then without an exception. A step that fails is logged.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        _stopped = cancellationToken;
        while (!cancellationToken.IsCancellationRequested)
        {
            var next = _options.Step;
            try
            {
                next = Step();
            }
            catch (Exception e)
            {
                AgentLog.StepFailed(_logger, e);
            }

            try
            {
                await Task.Delay(next, _time, cancellationToken);
            }
            catch (OperationCanceledException)
            {
                break;
            }
        }

        await _change.Ended;
        await _maintenance.Ended;
    }

    /// <summary>Tells the other agents that this process stops in good order, within the probe time-out.</summary>
    public async Task LeaveAsync()
    {
        List<NodeAddress> agents;
        lock (_gate) agents = [.. _monitor.Agents.Select(agent => agent.Address)];
        var leaving = new PingRequest(_view.Epoch, Self, true, _view.Automation);
        await Task.WhenAll(agents.Select(agent => _probes.TryCallAsync(agent, leaving, _options.ProbeTimeout, _time)));
    }

    /// <inheritdoc />
    public void Handle(Request request, ReplyTo reply)
    {
        switch (request)
        {
            case PingRequest ping:
                reply.Send(Answer(ping));
                break;
            case SuspicionRequest suspicion:
                _ = _suspicions.AnswerAsync(suspicion, reply, _stopped).ReportAsync(_logger);
                break;
            case AgentInfoRequest:
                reply.Send(Describe());
                break;
            case LatestRequest:
                // For an operator who has lost the acceptors: any node may be the one that survived.
                var known = Projection ?? _options.Remembered;
                reply.Send(new LayoutResponse(Status.Ok, known?.Epoch ?? Epoch.None, null, known));
                break;
            case SetAutomationRequest set:
                _view.Adopt(set.Automation);
                reply.Send(new AckResponse(Status.Ok, _view.Epoch));
                break;
            default:
                reply.Send(request.Fail(Status.Unsupported, _view.Epoch));
                break;
        }
    }

    private TimeSpan Step()
    {
        var next = _monitor.Step(_stopped);
        _view.RefreshIfDue(Acceptors, _stopped);
        _change.Step(_stopped);
        _maintenance.Step(_change.IsRunning, _stopped);
        return next;
    }

    private ImmutableArray<NodeAddress> Acceptors()
    {
        lock (_gate) return [.. from node in _monitor.Nodes where node.Role == NodeRole.Acceptor select node.Address];
    }

    private PingResponse Answer(PingRequest ping)
    {
        _view.Hint(ping.Epoch);
        _view.Adopt(ping.Automation);
        lock (_gate)
        {
            _monitor.Hear(ping.From, ping.Leaving);
            return new PingResponse(Status.Ok, _view.Epoch, _view.Automation, _monitor.Heard);
        }
    }

    private AgentInfoResponse Describe()
    {
        lock (_gate)
        {
            var nodes = ImmutableArray.CreateBuilder<NodeReport>();
            nodes.Add(new NodeReport(Self, NodeRole.Agent, NodeDuty.Serving, NodeHealth.Alive, "answers this"));
            foreach (var node in _monitor.Nodes.Take(MessageLimits.MaxItems - 1))
            {
                var verdict = _monitor.VerdictOf(node);
                nodes.Add(new NodeReport(node.Address, node.Role, _monitor.DutyOf(node), verdict.Health, verdict.Why));
            }

            return new AgentInfoResponse(Status.Ok, _view.Epoch, _view.Automation, _change.Note,
                nodes.DrainToImmutable(), _maintenance.Report());
        }
    }
}
