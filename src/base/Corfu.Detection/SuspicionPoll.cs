namespace Corfu.Detection;

/// <summary>The second observer, both sides: asks other agents whether they share a suspicion, those first that watch
/// the node, and answers when asked. It probes the node before it answers, so that it can answer about any node that
/// it knows.</summary>
public sealed class SuspicionPoll
{
    private const int MaxAsked = 3;

    private readonly MonitorOptions _options;
    private readonly IMembership _membership;
    private readonly Targets _targets;
    private readonly Verdicts _verdicts;
    private readonly AgentOrder _order;
    private readonly Prober _prober;
    private readonly ITransport _probes;
    private readonly AgentClock _clock;
    private readonly ProbeBudget _budget;

    internal SuspicionPoll(MonitorOptions options, IMembership membership, Targets targets, Verdicts verdicts,
        AgentOrder order, Prober prober, ITransport probes, AgentClock clock)
    {
        _options = options;
        _membership = membership;
        _targets = targets;
        _verdicts = verdicts;
        _order = order;
        _prober = prober;
        _probes = probes;
        _clock = clock;
        _budget = new ProbeBudget(clock);
    }

    /// <summary>Whether enough other agents share the suspicion of each of these nodes.</summary>
    public async Task<bool> IsAgreedAsync(IEnumerable<NamedNode> suspects, CancellationToken cancellationToken)
    {
        var agreed = await Task.WhenAll(
            suspects.Select(suspect => IsAgreedAsync(suspect.Role, suspect.Address, cancellationToken)).ToList());
        return agreed.All(yes => yes);
    }

    /// <summary>Whether a node that is to take another's place answers now: what is known of it may be old.</summary>
    public async Task<bool> AnswersAsync(NodeRole role, NodeAddress node, CancellationToken cancellationToken)
    {
        var (sample, _) = await _prober.ProbeAsync(role, node, _options.SuspicionTimeout, cancellationToken);
        _verdicts.Record(node.Id, sample);
        if (!sample.IsAnswer && _targets.Find(node.Id) is { } known)
            known.PausedUntil = _clock.Now + _options.DisagreementPause;
        return sample.IsAnswer;
    }

    private async Task<bool> IsAgreedAsync(NodeRole role, NodeAddress node, CancellationToken cancellationToken)
    {
        if (_targets.Find(node.Id) is not { } suspected) return false;
        var mine = _verdicts.Of(suspected);
        List<NodeAddress> others = [.. from agent in _order.WatchersOf(node.Endpoint)
            where !_verdicts.Of(agent).IsCertain select agent.Address];
        List<SuspicionResponse> answers = [];
        var request = new SuspicionRequest(_membership.Epoch, role, node);
        List<Task<SuspicionResponse?>> asked = [.. others.Take(MaxAsked).Select(
            agent => _probes.TryCallAsync(agent, request, _options.SuspicionTimeout, _clock.Time, cancellationToken))];
        // Agents that are silent themselves are not waited for when they could not change the outcome.
        while (asked.Count > 0 && !SecondObserver.AgreesWhateverElse(mine, answers, asked.Count))
        {
            var first = await Task.WhenAny(asked);
            asked.Remove(first);
            if (await first is { IsOk: true } answer) answers.Add(answer);
        }

        cancellationToken.ThrowIfCancellationRequested();

        if (SecondObserver.Agrees(mine, answers, others.Count)) return true;
        if (_targets.Find(node.Id) is not { } suspect) return false;
        suspect.PausedUntil = _clock.Now + _options.DisagreementPause;
        if (SecondObserver.IsPartition(mine, answers)) _verdicts.RecordPartition(suspect);
        return false;
    }

    /// <summary>Answers another agent that asks. Only nodes that this agent knows are probed, at the addresses that it
    /// knows: a message may name any, and must not make agents scan a network. An agent that lags knows the node when
    /// it is asked again.</summary>
    public async Task<SuspicionResponse> AnswerAsync(SuspicionRequest request, CancellationToken stopped)
    {
        if (_targets.Find(request.Suspect.Id) is not { } known)
            return new SuspicionResponse(Status.Ok, _membership.Epoch, false, NodeHealth.Unknown, "");

        // A node that is gone or overdue has a probe under way: another would wait in vain.
        var held = _verdicts.Of(known);
        var hasProbed = held.IsGone || (known.IsProbing && IsOverdue(held));
        var sample = !hasProbed && _budget.TryBegin()
            ? await ProbeAsync(known.Role, known.Address, stopped)
            : new ProbeSample(ProbeOutcome.None, default);
        _verdicts.Record(request.Suspect.Id, sample);
        var verdict = _targets.Find(request.Suspect.Id) is { } suspect ? _verdicts.Of(suspect) : default;
        return new SuspicionResponse(
            Status.Ok, _membership.Epoch, sample.IsSignOfLife, HealthOf(sample, verdict), verdict.Why);
    }

    // The probe is certain, though this agent would wait before it acted on its own.
    private NodeHealth HealthOf(ProbeSample sample, NodeVerdict verdict) => sample.Outcome switch
    {
        ProbeOutcome.Refused => NodeHealth.Dead,
        ProbeOutcome.Replaced => NodeHealth.Replaced,
        ProbeOutcome.Failed => NodeHealth.Failed,
        ProbeOutcome.Answered => verdict.Health == NodeHealth.Slow ? NodeHealth.Slow : NodeHealth.Alive,
        ProbeOutcome.Full => NodeHealth.Full,
        ProbeOutcome.Overloaded => NodeHealth.Overloaded,
        ProbeOutcome.None when verdict.IsGone => verdict.Health,
        _ => verdict.IsGone || IsOverdue(verdict) ? NodeHealth.Silent : verdict.Health,
    };

    private async Task<ProbeSample> ProbeAsync(NodeRole role, NodeAddress node, CancellationToken stopped)
    {
        try
        {
            return (await _prober.ProbeAsync(role, node, _options.SuspicionTimeout / 2, stopped)).Sample;
        }
        finally
        {
            _budget.End();
        }
    }

    private bool IsOverdue(NodeVerdict verdict) => verdict.Phi >= _options.Detector.SilentPhi / 2;
}
