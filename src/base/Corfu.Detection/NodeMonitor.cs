namespace Corfu.Detection;

/// <summary>Probes nodes and follows up on what came of it: <see cref="Targets"/> says whom to watch,
/// a schedule when, a prober sends, <see cref="Verdicts"/> judges, and a node's <see cref="IWatchedRole"/> takes what
/// an answer says besides. All parts run on one loop.</summary>
public sealed class NodeMonitor
{
    private readonly MonitorOptions _options;
    private readonly WatchedRoles _roles = new();
    private readonly ProbeSchedule _schedule;
    private readonly Prober _prober;
    private readonly AgentLoop _loop;

    /// <param name="self">The identity of this agent, which is not watched.</param>
    /// <param name="locations">Takes the endpoints at which identities answer.</param>
    /// <param name="probes">Sends probes, with short time-outs, so that a dead connection is given up soon.</param>
    public NodeMonitor(MonitorOptions options, NodeId self, IMembership membership, NodeLocations locations,
        ITransport probes, AgentLoop loop, ILogger logger)
    {
        var clock = loop.Clock;
        _options = options;
        _loop = loop;
        _prober = new Prober(probes, _roles, clock.Time);
        Targets = new Targets(options, self, membership, _roles, locations, clock);
        Verdicts = new Verdicts(options.Detector, Targets, clock, logger);
        Order = new AgentOrder(options.Self, Targets, Verdicts);
        Suspicions = new SuspicionPoll(options, membership, Targets, Verdicts, Order, _prober, probes, clock);
        _schedule = new ProbeSchedule(options, Targets, Verdicts, Order, clock);
    }

    public Targets Targets { get; }

    public Verdicts Verdicts { get; }

    public AgentOrder Order { get; }

    public SuspicionPoll Suspicions { get; }

    /// <summary>Nodes of other roles are not watched. All roles are added before the first step.</summary>
    public void AddRole(IWatchedRole role) => _roles.Add(role);

    /// <summary>Starts the probes that are due.</summary>
    /// <returns>How long until the next ones are due.</returns>
    public TimeSpan Step(CancellationToken stopped)
    {
        Verdicts.Tick();
        foreach (var id in Targets.Choose()) Verdicts.Forget(id);
        _schedule.Choose();
        foreach (var process in _schedule.TakeUnidentified()) _loop.Start(() => IdentifyAsync(process, stopped));
        var due = _schedule.TakeDue(out var next);
        foreach (var node in due) _loop.Start(() => ProbeAsync(node, stopped));
        return next < _options.Step ? _options.Step : next;
    }

    private async Task IdentifyAsync(Peer process, CancellationToken stopped)
    {
        NodeDescription? description = null;
        try
        {
            description = await _prober.IdentifyAsync(process.Endpoint, _options.ProbeTimeout, stopped);
        }
        finally
        {
            Targets.RecordIdentity(process, description);
        }
    }

    private async Task ProbeAsync(MonitoredNode node, CancellationToken stopped)
    {
        Probe probe;
        try
        {
            probe = await _prober.ProbeAsync(node.Role, node.Address, _options.ProbeTimeout, stopped);
        }
        catch
        {
            // A fault of the prober: the loop reports it, and the node goes on being probed.
            _schedule.Postpone(node);
            throw;
        }

        var sample = probe.Sample;
        Verdicts.Record(node.Address.Id, sample);
        node.Record(sample);
        if (probe.Answer is { } answer) node.Kind.Record(node, answer);
        _schedule.Record(node, sample);
        // A change is decided as soon as a node is found gone. Any other silent node is probed again before the next
        // tick.
        if (Verdicts.Report(node)) _loop.StepWithin(TimeSpan.Zero);
        else if (!sample.IsAnswer) _loop.StepWithin(_options.Step);
        if (sample.Outcome == ProbeOutcome.Answered) await node.Kind.CatchUpAsync(node, stopped);
    }
}
