namespace Corfu.Agent;

/// <summary>The second observer, both sides: asks other agents whether they share a suspicion, those first that watch
/// the node, and answers when asked. It probes the node before it answers, so that it can answer about any
/// node.</summary>
internal sealed class SuspicionPoll(MonitorOptions options, IMembership membership, Targets targets,
    Verdicts verdicts, AgentOrder order, Prober prober, ITransport probes, AgentClock clock)
{
    private const int MaxAsked = 3;

    private readonly ProbeBudget _budget = new(clock);

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
        var (sample, _) = await prober.ProbeAsync(role, node, options.SuspicionTimeout, cancellationToken);
        verdicts.Record(node.Id, sample);
        if (!sample.IsAnswer && targets.Find(node.Id) is { } known)
            known.PausedUntil = clock.Now + options.DisagreementPause;
        return sample.IsAnswer;
    }

    private async Task<bool> IsAgreedAsync(NodeRole role, NodeAddress node, CancellationToken cancellationToken)
    {
        if (targets.Find(node.Id) is not { } suspected) return false;
        var mine = verdicts.Of(suspected);
        List<NodeAddress> others = [.. from agent in order.WatchersOf(node.Endpoint)
            where !verdicts.Of(agent).IsCertain select agent.Address];
        List<SuspicionResponse> answers = [];
        var request = new SuspicionRequest(membership.Epoch, role, node);
        List<Task<SuspicionResponse?>> asked = [.. others.Take(MaxAsked).Select(
            agent => probes.TryCallAsync(agent, request, options.SuspicionTimeout, clock.Time, cancellationToken))];
        // Agents that are silent themselves are not waited for when they could not change the outcome.
        while (asked.Count > 0 && !SecondObserver.AgreesWhateverElse(mine, answers, asked.Count))
        {
            var first = await Task.WhenAny(asked);
            asked.Remove(first);
            if (await first is { IsOk: true } answer) answers.Add(answer);
        }

        cancellationToken.ThrowIfCancellationRequested();

        if (SecondObserver.Agrees(mine, answers, others.Count)) return true;
        if (targets.Find(node.Id) is not { } suspect) return false;
        suspect.PausedUntil = clock.Now + options.DisagreementPause;
        if (SecondObserver.IsPartition(mine, answers)) verdicts.RecordPartition(suspect);
        return false;
    }

    public async Task<SuspicionResponse> AnswerAsync(SuspicionRequest request, CancellationToken stopped)
    {
        // A node that is gone or overdue has a probe under way: another would wait in vain.
        var hasProbed = targets.Find(request.Suspect.Id) is { } known && verdicts.Of(known) is var held
            && (held.IsGone || (known.IsProbing && IsOverdue(held)));
        var sample = !hasProbed && _budget.TryBegin()
            ? await ProbeAsync(request.Role, request.Suspect, stopped)
            : new ProbeSample(ProbeOutcome.None, default);
        verdicts.Record(request.Suspect.Id, sample);
        var verdict = targets.Find(request.Suspect.Id) is { } suspect ? verdicts.Of(suspect) : default;
        return new SuspicionResponse(
            Status.Ok, membership.Epoch, sample.IsAnswer, HealthOf(sample, verdict), verdict.Why);
    }

    // The probe is certain, though this agent would wait before it acted on its own.
    private NodeHealth HealthOf(ProbeSample sample, NodeVerdict verdict) => sample.Outcome switch
    {
        ProbeOutcome.Refused => NodeHealth.Dead,
        ProbeOutcome.Replaced => NodeHealth.Replaced,
        ProbeOutcome.Failed => NodeHealth.Failed,
        ProbeOutcome.Answered => verdict.Health == NodeHealth.Slow ? NodeHealth.Slow : NodeHealth.Alive,
        ProbeOutcome.Full => NodeHealth.Full,
        ProbeOutcome.None when verdict.IsGone => verdict.Health,
        _ => verdict.IsGone || IsOverdue(verdict) ? NodeHealth.Silent : verdict.Health,
    };

    private async Task<ProbeSample> ProbeAsync(NodeRole role, NodeAddress node, CancellationToken stopped)
    {
        try
        {
            return (await prober.ProbeAsync(role, node, options.SuspicionTimeout / 2, stopped)).Sample;
        }
        finally
        {
            _budget.End();
        }
    }

    private bool IsOverdue(NodeVerdict verdict) => verdict.Phi >= options.Detector.SilentPhi / 2;
}
